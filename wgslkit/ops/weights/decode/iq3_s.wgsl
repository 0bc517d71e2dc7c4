// IQ3_S: blocks of 256 values, sub-blocks of 32. A unit is two of them, whole.
//
//   plane 0  64 B   byte k: bits 0–7 of the place in the codebook of values 4k to 4k + 3
//   plane 1   8 B   bit j of byte s: bit 8 of the place of values 32s + 4j to 32s + 4j + 3
//            32 B   bit i of byte k: value 8k + i is negative
//             4 B   scales: low nibble sub-block 2s, high nibble 2s + 1
//             4 B   nothing
//   plane 2   2 B   d
//
// value = (d·(2·scale + 1))·±level

//#include "iq3_levels.wgsl"

struct Packed { qs: vec4<u32>, high: u32, signs: vec2<u32>, scales: u32, d: f32 }

fn packed(row: u32, unit: u32) -> Packed {
  let block = unit / 4u;
  let u = unit % 4u;
  let at = row + params.plane1 + 3u * block;
  let first = weights[at];
  let last = weights[at + 2u];
  let signs = weights[at + (u + 1u) / 2u]; // the first unit's are in zw, then in xy and zw by turns
  return Packed(
    weights[row + unit], select(first.x, first.y, u >= 2u) >> (16u * (u % 2u)),
    select(signs.zw, signs.xy, u % 2u == 1u), last.z >> (8u * u), half_at(row + params.plane2, block));
}

fn unpacked(p: Packed, unit: u32) -> Unit {
  let scale = p.d * vec2<f32>(vec2<u32>(2u * (p.scales & 15u) + 1u, 2u * ((p.scales >> 4u) & 15u) + 1u));
  return Unit(
    array<mat4x4<f32>, 4>(
      signed_levels(entries(p.qs.x, p.high), p.signs.x),
      signed_levels(entries(p.qs.y, p.high >> 4u), p.signs.x >> 16u),
      signed_levels(entries(p.qs.z, p.high >> 8u), p.signs.y),
      signed_levels(entries(p.qs.w, p.high >> 12u), p.signs.y >> 16u)),
    scale.xxyy, vec4<f32>(0.0));
}

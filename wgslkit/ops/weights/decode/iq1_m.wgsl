// IQ1_M: blocks of 256 values, sub-blocks of 16.
//
//   plane 0  32 B   byte k: bits 0–7 of the place in the codebook of values 8k to 8k + 7
//            16 B   a nibble for values 8k to 8k + 7: three bits for bits 8–10 of the place, and a bit that says that
//                   the shift is −⅛ instead of ⅛
//   plane 1   8 B   16 bits for 64 values: bits 3j to 3j + 2, j < 4: the scale of a sub-block; bits 12–15 of number i:
//                   bits 4i to 4i + 3 of d, a float16
//
// value = (d·(2·scale + 1))·(level + shift)

//#include "iq1_levels.wgsl"

struct Packed { qs: vec2<u32>, high: u32, scales: vec2<u32> }

fn packed(row: u32, unit: u32) -> Packed {
  let block = unit / 4u;
  let u = unit % 4u;
  let at = row + 3u * block;
  let qs = weights[at + u / 2u];
  let scales = weights[row + params.plane1 + block / 2u];
  return Packed(
    select(qs.xy, qs.zw, u % 2u == 1u), weights[at + 2u][u], select(scales.xy, scales.zw, block % 2u == 1u));
}

fn sub_block(low: u32, high: u32) -> mat4x4<f32> {
  return two_entries((low & 255u) | ((high & 7u) << 8u), ((low >> 8u) & 255u) | ((high & 112u) << 4u),
    shift_of(high >> 3u), shift_of(high >> 7u));
}

fn unpacked(p: Packed, unit: u32) -> Unit {
  let d = unpack2x16float(((p.scales.x >> 12u) & 15u) | ((p.scales.x >> 24u) & 0xf0u) |
    ((p.scales.y >> 4u) & 0xf00u) | ((p.scales.y >> 16u) & 0xf000u)).x;
  let own = select(p.scales.x, p.scales.y, unit % 4u >= 2u) >> (16u * (unit % 2u));
  let scales = (vec4<u32>(own) >> vec4<u32>(0u, 3u, 6u, 9u)) & vec4<u32>(7u);
  return Unit(
    array<mat4x4<f32>, 4>(
      sub_block(p.qs.x, p.high), sub_block(p.qs.x >> 16u, p.high >> 8u),
      sub_block(p.qs.y, p.high >> 16u), sub_block(p.qs.y >> 16u, p.high >> 24u)),
    d * vec4<f32>(2u * scales + vec4<u32>(1u)) * 0.125, vec4<f32>(0.0));
}

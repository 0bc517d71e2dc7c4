// IQ2_S: blocks of 256 values, sub-blocks of 16.
//
//   plane 0  32 B   byte k: bits 0–7 of the place in the codebook of values 8k to 8k + 7
//            32 B   bit i of byte k: value 8k + i is negative
//   plane 1   8 B   bits 2j and 2j + 1 of byte i: bits 8 and 9 of the place of values 32i + 8j to 32i + 8j + 7
//             8 B   scales: low nibble sub-block 2s, high nibble 2s + 1
//   plane 2   2 B   d
//
// value = (d·(scale + ½)·¼)·±level

//#include "iq2_levels.wgsl"

struct Packed { qs: vec2<u32>, signs: vec2<u32>, high: u32, scales: u32, d: f32 }

fn packed(row: u32, unit: u32) -> Packed {
  let block = unit / 4u;
  let u = unit % 4u;
  let at = row + 4u * block + u / 2u;
  let qs = weights[at];
  let signs = weights[at + 2u];
  let tail = weights[row + params.plane1 + block];
  let odd = u % 2u == 1u;
  return Packed(
    select(qs.xy, qs.zw, odd), select(signs.xy, signs.zw, odd),
    select(tail.x, tail.y, u >= 2u) >> (16u * (u % 2u)), select(tail.z, tail.w, u >= 2u) >> (16u * (u % 2u)),
    half_at(row + params.plane2, block));
}

// sub_block is the values at two places, the lowest bytes of a word with two bits each above.
fn sub_block(low: u32, high: u32, signs: u32) -> mat4x4<f32> {
  return two_entries((low & 255u) | ((high & 3u) << 8u), ((low >> 8u) & 255u) | ((high & 12u) << 6u), signs);
}

fn unpacked(p: Packed, unit: u32) -> Unit {
  return Unit(
    array<mat4x4<f32>, 4>(
      sub_block(p.qs.x, p.high, p.signs.x), sub_block(p.qs.x >> 16u, p.high >> 4u, p.signs.x >> 16u),
      sub_block(p.qs.y, p.high >> 8u, p.signs.y), sub_block(p.qs.y >> 16u, p.high >> 12u, p.signs.y >> 16u)),
    of_nibbles(p.d, p.scales), vec4<f32>(0.0));
}

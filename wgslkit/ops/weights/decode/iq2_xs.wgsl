// IQ2_XS: blocks of 256 values, sub-blocks of 16.
//
//   plane 0  64 B   16 bits for values 8k to 8k + 7: bits 0–8 their place in the codebook, bits 9–15 the signs of the
//                   first seven, of which the eighth follows
//   plane 1   8 B   scales: low nibble sub-block 2s, high nibble 2s + 1
//   plane 2   2 B   d
//
// value = (d·(scale + ½)·¼)·±level

//#include "iq2_levels.wgsl"

struct Packed { qs: vec4<u32>, scales: u32, d: f32 }

fn packed(row: u32, unit: u32) -> Packed {
  let block = unit / 4u;
  let u = unit % 4u;
  let scales = weights[row + params.plane1 + block / 2u][block % 2u * 2u + u / 2u];
  return Packed(weights[row + unit], scales >> (16u * (u % 2u)), half_at(row + params.plane2, block));
}

fn sub_block(word: u32) -> mat4x4<f32> {
  return two_entries(word & 511u, (word >> 16u) & 511u, even_signs(word >> 9u) | (even_signs(word >> 25u) << 8u));
}

fn unpacked(p: Packed, unit: u32) -> Unit {
  return Unit(
    array<mat4x4<f32>, 4>(sub_block(p.qs.x), sub_block(p.qs.y), sub_block(p.qs.z), sub_block(p.qs.w)),
    of_nibbles(p.d, p.scales), vec4<f32>(0.0));
}

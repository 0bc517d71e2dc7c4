// IQ1_S: blocks of 256 values, sub-blocks of 32. A unit is two of them, whole.
//
//   plane 0  32 B   byte k: bits 0–7 of the place in the codebook of values 8k to 8k + 7
//            16 B   16 bits for each sub-block: bits 3l to 3l + 2, l < 4: bits 8–10 of the place of its values 8l to
//                   8l + 7; bits 12–14: its scale; bit 15: the shift is −⅛ instead of ⅛
//   plane 1   2 B   d
//
// value = (d·(2·scale + 1))·(level + shift)

//#include "iq1_levels.wgsl"

struct Packed { qs: vec2<u32>, high: u32, d: f32 }

fn packed(row: u32, unit: u32) -> Packed {
  let block = unit / 4u;
  let u = unit % 4u;
  let at = row + 3u * block;
  let qs = weights[at + u / 2u];
  return Packed(select(qs.xy, qs.zw, u % 2u == 1u), weights[at + 2u][u], half_at(row + params.plane1, block));
}

// half_of_block is the values at two places, the lowest bytes of a word with three bits each above.
fn half_of_block(low: u32, high: u32, shift: f32) -> mat4x4<f32> {
  return two_entries((low & 255u) | ((high & 7u) << 8u), ((low >> 8u) & 255u) | ((high & 56u) << 5u), shift, shift);
}

fn unpacked(p: Packed, unit: u32) -> Unit {
  let scales = (vec2<u32>(p.high) >> vec2<u32>(12u, 28u)) & vec2<u32>(7u);
  let scale = p.d * vec2<f32>(2u * scales + vec2<u32>(1u)) * 0.125;
  let a = shift_of(p.high >> 15u);
  let b = shift_of(p.high >> 31u);
  return Unit(
    array<mat4x4<f32>, 4>(
      half_of_block(p.qs.x, p.high, a), half_of_block(p.qs.x >> 16u, p.high >> 6u, a),
      half_of_block(p.qs.y, p.high >> 16u, b), half_of_block(p.qs.y >> 16u, p.high >> 22u, b)),
    scale.xxyy, vec4<f32>(0.0));
}

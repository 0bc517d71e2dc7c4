// IQ2_XXS: blocks of 256 values, sub-blocks of 32. A unit is two of them, whole.
//
//   plane 0  64 B   for each sub-block: byte l, l < 4: the place in the codebook of its values 8l to 8l + 7; then a
//                   word: bits 7l to 7l + 6 are the signs of values 8l to 8l + 6, of which that of 8l + 7 follows;
//                   bits 28–31 are its scale
//   plane 1   2 B   d
//
// value = (d·(scale + ½)·¼)·±level

//#include "iq2_levels.wgsl"

struct Packed { qs: vec4<u32>, d: f32 }

fn packed(row: u32, unit: u32) -> Packed {
  return Packed(weights[row + unit], half_at(row + params.plane1, unit / 4u));
}

// half_of_block is values of two places, the lowest bytes of a word, with the signs of fourteen bits.
fn half_of_block(places: u32, bits: u32) -> mat4x4<f32> {
  return two_entries(places & 255u, (places >> 8u) & 255u, even_signs(bits) | (even_signs(bits >> 7u) << 8u));
}

fn unpacked(p: Packed, unit: u32) -> Unit {
  let scale = p.d * (vec2<f32>(p.qs.yw >> vec2<u32>(28u)) + 0.5) * 0.25;
  return Unit(
    array<mat4x4<f32>, 4>(
      half_of_block(p.qs.x, p.qs.y), half_of_block(p.qs.x >> 16u, p.qs.y >> 14u),
      half_of_block(p.qs.z, p.qs.w), half_of_block(p.qs.z >> 16u, p.qs.w >> 14u)),
    scale.xxyy, vec4<f32>(0.0));
}

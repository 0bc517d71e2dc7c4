// IQ3_XXS: blocks of 256 values, sub-blocks of 32. A unit is two of them, whole.
//
//   plane 0  64 B   byte k: the place in the codebook of values 4k to 4k + 3
//            32 B   a word for each sub-block: bits 7l to 7l + 6 are the signs of its values 8l to 8l + 6,
//                   of which that of 8l + 7 follows; bits 28–31 are its scale
//   plane 1   2 B   d
//
// value = (d·(scale + ½)·½)·±level

//#include "iq3_levels.wgsl"

struct Packed { qs: vec4<u32>, words: vec2<u32>, d: f32 }

fn packed(row: u32, unit: u32) -> Packed {
  let block = unit / 4u;
  let u = unit % 4u;
  let at = row + 6u * block;
  let words = weights[at + 4u + u / 2u];
  return Packed(weights[at + u], select(words.xy, words.zw, u % 2u == 1u), half_at(row + params.plane1, block));
}

// sixteen_signs is two runs of seven signs, made eight.
fn sixteen_signs(bits: u32) -> u32 { return even_signs(bits) | (even_signs(bits >> 7u) << 8u); }

fn unpacked(p: Packed, unit: u32) -> Unit {
  let scale = p.d * (vec2<f32>(p.words >> vec2<u32>(28u)) + 0.5) * 0.5;
  return Unit(
    array<mat4x4<f32>, 4>(
      signed_levels(entries(p.qs.x, 0u), sixteen_signs(p.words.x)),
      signed_levels(entries(p.qs.y, 0u), sixteen_signs(p.words.x >> 14u)),
      signed_levels(entries(p.qs.z, 0u), sixteen_signs(p.words.y)),
      signed_levels(entries(p.qs.w, 0u), sixteen_signs(p.words.y >> 14u))),
    scale.xxyy, vec4<f32>(0.0));
}

// What IQ4_NL and IQ4_XS share: a codebook of 16 uneven levels, as float32.

//#include "bytes.wgsl"

fn level(nibble: u32) -> f32 { return bitcast<f32>(codebook_word(nibble & 15u)); }

// four_levels is those of the low nibbles of a word's bytes.
fn four_levels(word: u32) -> vec4<f32> {
  return vec4<f32>(level(word), level(word >> 8u), level(word >> 16u), level(word >> 24u));
}

fn sixteen_levels(words: vec4<u32>) -> mat4x4<f32> {
  return mat4x4<f32>(four_levels(words.x), four_levels(words.y), four_levels(words.z), four_levels(words.w));
}

// Pieces that block types share.

//#include "decode/four.wgsl"

// sixteen is the bytes of four words.
fn sixteen(words: vec4<u32>) -> mat4x4<f32> {
  return mat4x4<f32>(four(words.x), four(words.y), four(words.z), four(words.w));
}

// halves is float16 number i of a row of them that starts at words[at].
fn half_at(at: u32, i: u32) -> f32 {
  let pair = unpack2x16float(weights[at + i / 8u][i / 2u % 4u]);
  return select(pair.x, pair.y, i % 2u == 1u);
}

fn splat(word: u32) -> vec4<u32> { return vec4<u32>(word); }

const NIBBLES: u32 = 0x0f0f0f0fu;

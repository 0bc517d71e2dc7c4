// Pieces that block types share.

//#include "record/four.wgsl"

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

//#if HALVES
// sixty_fourths is 1 + field/64 for the small field that each byte of four words
// has: `even` holds those of bytes 0 and 2 of a word in its halves, from bit 4 on, and
// `odd` those of bytes 1 and 3. With ones above them they are float16, which GPUs
// convert faster than integers. 64 of each less 64 is the field, exactly.
fn sixty_fourths(even: vec4<u32>, odd: vec4<u32>, fields: u32) -> mat4x4<f32> {
  let e = (even & splat(fields)) | splat(0x3c003c00u);
  let o = (odd & splat(fields)) | splat(0x3c003c00u);
  return mat4x4<f32>(woven(e.x, o.x), woven(e.y, o.y), woven(e.z, o.z), woven(e.w, o.w));
}

fn woven(even: u32, odd: u32) -> vec4<f32> {
  let e = unpack2x16float(even);
  let o = unpack2x16float(odd);
  return vec4<f32>(e.x, o.x, e.y, o.y);
}
//#end

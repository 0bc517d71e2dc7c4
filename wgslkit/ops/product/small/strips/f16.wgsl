// A strip of F16 is 32 values, 4 words of 16 bytes; a row ends with whole units of 16.

//#include "record/halves.wgsl"

const STRIP: u32 = 32u;

var<private> in: array<vec4<f32>, 8>;

var<private> word_at: vec4<u32>; // of the strip's words in a row

fn load_strip(at: u32, strip: u32) {
  word_at = min(vec4<u32>(4u * strip) + vec4<u32>(0u, 1u, 2u, 3u), vec4<u32>((params.cols + 15u) / 16u * 2u - 1u));
  for (var i = 0u; i < 8u; i++) { in[i] = inputs(at, strip * STRIP + 4u * i); }
}

fn two(word: i32, a: f32, b: f32) -> f32 { return low_half(word) * a + high_half(word) * b; }

fn eight(word: vec4<i32>, a: vec4<f32>, b: vec4<f32>) -> f32 {
  return (two(word.x, a.x, a.y) + two(word.y, a.z, a.w)) + (two(word.z, b.x, b.y) + two(word.w, b.z, b.w));
}

fn strip_dot(row: u32) -> f32 {
  return (eight(vec4<i32>(weights[row + word_at.x]), in[0], in[1]) +
    eight(vec4<i32>(weights[row + word_at.y]), in[2], in[3])) +
    (eight(vec4<i32>(weights[row + word_at.z]), in[4], in[5]) +
      eight(vec4<i32>(weights[row + word_at.w]), in[6], in[7]));
}

// A strip of F16 is 32 values, 4 words of 16 bytes; a row ends with whole units of 16.

//#include "halves.wgsl"

const STRIP: u32 = 32u;

var<private> in: array<vec4<f32>, 8>;

fn load_strip(at: u32, strip: u32) {
  for (var i = 0u; i < 8u; i++) { in[i] = inputs(at, strip * STRIP + 4u * i); }
}

fn two(word: i32, a: f32, b: f32) -> f32 { return low_half(word) * a + high_half(word) * b; }

fn eight(word: vec4<i32>, a: vec4<f32>, b: vec4<f32>) -> f32 {
  return (two(word.x, a.x, a.y) + two(word.y, a.z, a.w)) + (two(word.z, b.x, b.y) + two(word.w, b.z, b.w));
}

fn strip_dot(row: u32, strip: u32) -> f32 {
  let at = row + 4u * strip;
  let last = row + (params.cols + 15u) / 16u * 2u - 1u;
  return (eight(vec4<i32>(weights[at]), in[0], in[1]) + eight(vec4<i32>(weights[min(at + 1u, last)]), in[2], in[3])) +
    (eight(vec4<i32>(weights[min(at + 2u, last)]), in[4], in[5]) + eight(vec4<i32>(weights[min(at + 3u, last)]), in[6], in[7]));
}

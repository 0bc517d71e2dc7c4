// A strip of F16 is 32 values, 4 words of 16 bytes; a row ends with whole units of 16.
//
// unpack2x16float costs twice as much as what stands here. A half's bits, but
// its sign, are moved to where a float32 has them, by products instead of
// shifts, and 112 is added to the exponent. The halves without an exponent then
// have a 1 too much in front: v < 2⁻¹⁴ is doubled and 2⁻¹⁴ taken off it. (An
// infinity comes out as 65536, a NaN as a number beyond it.)

const STRIP: u32 = 32u;
const EXPONENT: i32 = 0x38000000; // 112

var<private> in: array<vec4<f32>, 8>;

fn load_strip(at: u32, strip: u32) {
  for (var i = 0u; i < 8u; i++) { in[i] = inputs(at, strip * STRIP + 4u * i); }
}

fn half_value(bits: i32, sign: i32) -> f32 {
  let v = bitcast<f32>(bits * 8192 + EXPONENT);
  let below = min(bitcast<i32>(v - 6.103515625e-05), 0); // as bits: of a number ≥ 0 none
  return bitcast<f32>(bitcast<i32>(v + bitcast<f32>(below)) | sign);
}

fn low_half(word: i32) -> f32 { return half_value(word & 0x7fff, (word & 0x8000) * 65536); }

// high_half finds the half's bits at the end of a float32 that counts ones.
fn high_half(word: i32) -> f32 {
  return half_value(bitcast<i32>(f32(word & 0x7fff0000) * (1.0 / 65536.0) + 8388608.0), word & -0x80000000);
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

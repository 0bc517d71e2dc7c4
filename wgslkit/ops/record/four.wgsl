// The bytes of a word as four floats: of integers, or of int8.

//#if QUICK_BYTES
// Where a shift by a vector costs as much as ten additions. 255 times a
// multiple of 1/255 is off by a rounding at most.
fn four(word: u32) -> vec4<f32> { return unpack4x8unorm(word) * 255.0; }

fn four_signed(word: u32) -> vec4<f32> { return four(word ^ 0x80808080u) - 128.0; }
//#else
// four is the bytes of a word. Signed integers convert faster than unsigned
// ones on some processors.
fn four(word: u32) -> vec4<f32> {
  return vec4<f32>(vec4<i32>((vec4<u32>(word) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(255u)));
}

// four_signed is the bytes of a word as int8.
fn four_signed(word: u32) -> vec4<f32> {
  return vec4<f32>((vec4<i32>(i32(word)) << vec4<u32>(24u, 16u, 8u, 0u)) >> vec4<u32>(24u));
}
//#end

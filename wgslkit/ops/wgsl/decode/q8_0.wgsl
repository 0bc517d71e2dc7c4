// Q8_0: blocks of 32 values.
//
//   plane 0  32 B  int8 values
//   plane 1   2 B  d
//
// value = d·q

//#include "decode/bytes.wgsl"

fn sixteen_signed(words: vec4<u32>) -> mat4x4<f32> {
  return mat4x4<f32>(four_signed(words.x), four_signed(words.y), four_signed(words.z), four_signed(words.w));
}

fn decode(row: u32, unit: u32) -> Unit {
  let at = row + 2u * unit;
  let d = half_at(row + params.plane1, unit);
  return Unit(
    array<mat4x4<f32>, 2>(sixteen_signed(weights[at]), sixteen_signed(weights[at + 1u])),
    vec4<f32>(d), vec4<f32>(0.0));
}

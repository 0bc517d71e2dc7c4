// Q4_0: blocks of 32 values.
//
//   plane 0  16 B  nibbles: low ones values 0–15, high ones 16–31
//   plane 1   2 B  d
//
// value = d·(q − 8)

//#include "decode/bytes.wgsl"

fn decode(row: u32, unit: u32) -> Unit {
  let qs = weights[row + unit];
  let d = half_at(row + params.plane1, unit);
  return Unit(
    array<mat4x4<f32>, 2>(sixteen(qs & splat(NIBBLES)), sixteen((qs >> splat(4u)) & splat(NIBBLES))),
    vec4<f32>(d), vec4<f32>(-8.0 * d));
}

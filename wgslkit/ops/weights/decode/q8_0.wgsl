// Q8_0: blocks of 32 values.
//
//   plane 0  32 B  int8 values
//   plane 1   2 B  d
//
// value = d·q

//#include "bytes.wgsl"

fn sixteen_signed(words: vec4<u32>) -> mat4x4<f32> {
  return mat4x4<f32>(four_signed(words.x), four_signed(words.y), four_signed(words.z), four_signed(words.w));
}

struct Packed { a: vec4<u32>, b: vec4<u32>, d: f32 }

fn packed(row: u32, unit: u32) -> Packed {
  let at = row + 2u * unit;
  return Packed(weights[at], weights[at + 1u], half_at(row + params.plane1, unit));
}

fn unpacked(p: Packed, unit: u32) -> Unit {
  return Unit(array<mat4x4<f32>, 2>(sixteen_signed(p.a), sixteen_signed(p.b)), vec4<f32>(p.d), vec4<f32>(0.0));
}

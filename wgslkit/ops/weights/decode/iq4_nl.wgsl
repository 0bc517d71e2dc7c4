// IQ4_NL: blocks of 32 values.
//
//   plane 0  16 B  nibbles: low ones values 0–15, high ones 16–31
//   plane 1   2 B  d
//
// value = d·level[q]

//#include "uneven.wgsl"

struct Packed { qs: vec4<u32>, d: f32 }

fn packed(row: u32, unit: u32) -> Packed { return Packed(weights[row + unit], half_at(row + params.plane1, unit)); }

fn unpacked(p: Packed, unit: u32) -> Unit {
  return Unit(
    array<mat4x4<f32>, 2>(sixteen_levels(p.qs), sixteen_levels(p.qs >> splat(4u))),
    vec4<f32>(p.d), vec4<f32>(0.0));
}

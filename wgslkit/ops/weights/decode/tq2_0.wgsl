// TQ2_0: blocks of 256 values, ternary.
//
//   plane 0  64 B   in each half of 128 values (32 B), bits 2j and 2j + 1 of byte i: value 32j + i
//   plane 1   2 B   d
//
// value = d·(q − 1)

//#include "bytes.wgsl"

struct Packed { qs: vec4<u32>, d: f32 }

fn packed(row: u32, unit: u32) -> Packed {
  // In half unit / 2 % 2, the 16 of each 32 that unit % 2 names.
  return Packed(weights[row + unit], half_at(row + params.plane1, unit / 4u));
}

fn unpacked(p: Packed, unit: u32) -> Unit {
  let two = splat(0x03030303u);
  return Unit(
    array<mat4x4<f32>, 4>(
      sixteen(p.qs & two), sixteen((p.qs >> splat(2u)) & two),
      sixteen((p.qs >> splat(4u)) & two), sixteen((p.qs >> splat(6u)) & two)),
    vec4<f32>(p.d), vec4<f32>(-p.d));
}

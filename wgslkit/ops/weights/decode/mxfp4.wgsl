// MXFP4: blocks of 32 values.
//
//   plane 0  16 B  nibbles, E2M1: low ones values 0–15, high ones 16–31
//   plane 1   1 B  e, E8M0: the scale is 2^(e − 127)
//
// value = 2^(e − 128)·(doubled E2M1)
//
// 2⁻¹²⁸ and 2⁻¹²⁷ are subnormal, which a GPU may take for 0.

//#include "four_bit_floats.wgsl"

struct Packed { qs: vec4<u32>, e: u32 }

fn packed(row: u32, unit: u32) -> Packed {
  return Packed(weights[row + unit], weights[row + params.plane1 + unit / 16u][unit / 4u % 4u] >> (8u * (unit % 4u)));
}

fn sixteen_floats(words: vec4<u32>) -> mat4x4<f32> {
  return mat4x4<f32>(four_floats(words.x), four_floats(words.y), four_floats(words.z), four_floats(words.w));
}

fn unpacked(p: Packed, unit: u32) -> Unit {
  let e = p.e & 255u;
  let scale = bitcast<f32>(select((e - 1u) << 23u, 0x00200000u << e, e < 2u));
  return Unit(
    array<mat4x4<f32>, 2>(sixteen_floats(p.qs), sixteen_floats(p.qs >> splat(4u))),
    vec4<f32>(scale), vec4<f32>(0.0));
}

// NVFP4: blocks of 64 values, sub-blocks of 16.
//
//   plane 0  4 × 8 B  of each sub-block: nibbles, E2M1, low ones values 0–7, high ones 8–15
//   plane 1      4 B  a scale for each sub-block, UE4M3: four bits of exponent (bias 7), three of fraction; 0x7f is 0
//
// value = (scale/2)·(doubled E2M1)

//#include "four_bit_floats.wgsl"

struct Packed { a: vec4<u32>, b: vec4<u32>, d: u32 }

fn packed(row: u32, unit: u32) -> Packed {
  let at = row + 2u * unit;
  return Packed(weights[at], weights[at + 1u], weights[row + params.plane1 + unit / 4u][unit % 4u]);
}

// half_scale is half of a UE4M3, whose top bit counts only in telling the two zeros.
fn half_scale(bits: u32) -> f32 {
  let byte = bits & 255u;
  let exponent = (byte >> 3u) & 15u;
  let fraction = byte & 7u;
  if (byte == 0x7fu) { return 0.0; }
  if (exponent == 0u) { return f32(fraction) * (1.0 / 1024.0); }
  return bitcast<f32>(((exponent + 119u) << 23u) | (fraction << 20u));
}

fn sub_block(words: vec2<u32>) -> mat4x4<f32> {
  return mat4x4<f32>(four_floats(words.x), four_floats(words.y), four_floats(words.x >> 4u),
    four_floats(words.y >> 4u));
}

fn unpacked(p: Packed, unit: u32) -> Unit {
  return Unit(
    array<mat4x4<f32>, 4>(sub_block(p.a.xy), sub_block(p.a.zw), sub_block(p.b.xy), sub_block(p.b.zw)),
    vec4<f32>(half_scale(p.d), half_scale(p.d >> 8u), half_scale(p.d >> 16u), half_scale(p.d >> 24u)),
    vec4<f32>(0.0));
}

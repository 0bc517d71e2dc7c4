// Signs of values whose levels are bytes of 1 to 127.

//#include "bytes.wgsl"

// negated is four levels as int8, negative where a bit of the lowest four of signs is set.
fn negated(levels: u32, signs: u32) -> u32 {
  let ones = ((signs & 15u) * 0x00204081u) & 0x01010101u;
  return (levels ^ (ones * 255u)) + ones;
}

// even_signs is eight signs, told by the first seven: the number of negative ones is even.
fn even_signs(seven: u32) -> u32 {
  let bits = seven & 127u;
  return bits | ((countOneBits(bits) & 1u) << 7u);
}

// signed_levels is sixteen values with the lowest sixteen signs.
fn signed_levels(levels: vec4<u32>, signs: u32) -> mat4x4<f32> {
  return mat4x4<f32>(
    four_signed(negated(levels.x, signs)), four_signed(negated(levels.y, signs >> 4u)),
    four_signed(negated(levels.z, signs >> 8u)), four_signed(negated(levels.w, signs >> 12u)));
}

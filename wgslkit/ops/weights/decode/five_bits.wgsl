// What Q5_0 and Q5_1 share: 32 five-bit values, their low bits as in Q4_0 and
// bit 4 of value l at bit l of a word.

//#include "bytes.wgsl"

// spread puts bits 0–3 of `bits` at bit 4 of the four bytes of a word.
fn spread(bits: u32) -> u32 { return (((bits & 15u) * 0x00204081u) & 0x01010101u) << 4u; }

fn five_bits(qs: vec4<u32>, high: u32) -> array<mat4x4<f32>, 2> {
  let low_run = vec4<u32>(spread(high), spread(high >> 4u), spread(high >> 8u), spread(high >> 12u));
  let high_run = vec4<u32>(spread(high >> 16u), spread(high >> 20u), spread(high >> 24u), spread(high >> 28u));
  return array<mat4x4<f32>, 2>(
    sixteen((qs & splat(NIBBLES)) | low_run),
    sixteen(((qs >> splat(4u)) & splat(NIBBLES)) | high_run));
}

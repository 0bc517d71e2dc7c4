// Q4_K: blocks of 256 values in one plane of 144 B.
//
//    0  16 B   header, see affine.wgsl
//   16  128 B  nibbles: each run of 32 B has sub-block 2k in the low ones and
//              2k + 1 in the high ones

//#include "decode/affine.wgsl"

fn decode(row: u32, unit: u32) -> Unit {
  let block = row + unit / 8u * 9u;
  let k = unit % 8u;
  let a = affine(weights[block], k / 2u);
  let qs = weights[block + 1u + k];
  return Unit(
    array<mat4x4<f32>, 2>(sixteen(qs & splat(NIBBLES)), sixteen((qs >> splat(4u)) & splat(NIBBLES))),
    a.scale, a.low);
}

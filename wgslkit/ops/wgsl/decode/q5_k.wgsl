// Q5_K: blocks of 256 values in one plane of 176 B.
//
//    0  16 B   header, see affine.wgsl
//   16  32 B   bit j of byte i: bit 4 of value i of sub-block j
//   48  128 B  nibbles: each run of 32 B has sub-block 2k in the low ones and
//              2k + 1 in the high ones

//#include "decode/affine.wgsl"

fn decode(row: u32, unit: u32) -> Unit {
  let block = row + unit / 8u * 11u;
  let k = unit % 8u;
  let a = affine(weights[block], k / 2u);
  let high = weights[block + 1u + k % 2u] >> splat(k & 6u);
  let qs = weights[block + 3u + k];
  let bit4 = splat(0x10101010u);
  return Unit(
    array<mat4x4<f32>, 2>(
      sixteen((qs & splat(NIBBLES)) | ((high << splat(4u)) & bit4)),
      sixteen(((qs >> splat(4u)) & splat(NIBBLES)) | ((high << splat(3u)) & bit4))),
    a.scale, a.low);
}

// Q5_K: blocks of 256 values in one plane of 176 B.
//
//    0  16 B   header, see affine.wgsl
//   16  32 B   bit j of byte i: bit 4 of value i of sub-block j
//   48  128 B  nibbles: each run of 32 B has sub-block 2k in the low ones and
//              2k + 1 in the high ones

//#include "decode/affine.wgsl"

struct Packed { header: vec4<u32>, high: vec4<u32>, qs: vec4<u32> }

fn packed(row: u32, unit: u32) -> Packed {
  let block = row + unit / 8u * 11u;
  let k = unit % 8u;
  return Packed(weights[block], weights[block + 1u + k % 2u], weights[block + 3u + k]);
}

fn unpacked(p: Packed, unit: u32) -> Unit {
  let k = unit % 8u;
  let a = affine(p.header, k / 2u);
  let high = p.high >> splat(k & 6u);
  let bit4 = splat(0x10101010u);
  return Unit(
    array<mat4x4<f32>, 2>(
      sixteen((p.qs & splat(NIBBLES)) | ((high << splat(4u)) & bit4)),
      sixteen(((p.qs >> splat(4u)) & splat(NIBBLES)) | ((high << splat(3u)) & bit4))),
    a.scale, a.low);
}

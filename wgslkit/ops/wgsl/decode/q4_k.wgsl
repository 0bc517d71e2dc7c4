// Q4_K: blocks of 256 values in one plane of 144 B.
//
//    0  16 B   header, see affine.wgsl
//   16  128 B  nibbles: each run of 32 B has sub-block 2k in the low ones and
//              2k + 1 in the high ones

//#include "decode/affine.wgsl"

struct Packed { header: vec4<u32>, qs: vec4<u32> }

fn packed(row: u32, unit: u32) -> Packed {
  let block = row + unit / 8u * 9u;
  return Packed(weights[block], weights[block + 1u + unit % 8u]);
}

fn unpacked(p: Packed, unit: u32) -> Unit {
  let a = affine(p.header, unit % 8u / 2u);
  return Unit(
    array<mat4x4<f32>, 2>(sixteen(p.qs & splat(NIBBLES)), sixteen((p.qs >> splat(4u)) & splat(NIBBLES))),
    a.scale, a.low);
}

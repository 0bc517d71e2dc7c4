// Q2_K: blocks of 256 values.
//
//   plane 0   0  16 B  of each sub-block of 16: scale (low nibble), low (high nibble)
//            16  64 B  in each half of 128 values (32 B), bits 2j and 2j + 1 of byte i: value 32j + i
//   plane 1       4 B  d, dmin
//
// value = (d·scale)·q − dmin·low

//#include "decode/bytes.wgsl"

fn decode(row: u32, unit: u32) -> Unit {
  let block = unit / 4u;
  let at = row + block * 5u;
  let h = unit / 2u % 2u;
  let i = unit % 2u; // which 16 of each 32
  let qs = weights[at + 1u + 2u * h + i];
  // Span s is sub-block 8h + 2s + i.
  let all = weights[at];
  let pair = (select(all.xy, all.zw, h == 1u) >> vec2<u32>(8u * i)) & vec2<u32>(0x00ff00ffu);
  let both = vec4<u32>(pair.x & 255u, pair.x >> 16u, pair.y & 255u, pair.y >> 16u);
  let d = unpack2x16float(weights[row + params.plane1 + block / 4u][block % 4u]);
  let two = splat(0x03030303u);
  return Unit(
    array<mat4x4<f32>, 4>(
      sixteen(qs & two), sixteen((qs >> splat(2u)) & two),
      sixteen((qs >> splat(4u)) & two), sixteen((qs >> splat(6u)) & two)),
    d.x * vec4<f32>(both & splat(15u)), -d.y * vec4<f32>(both >> splat(4u)));
}

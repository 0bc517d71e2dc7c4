// Q2_K: blocks of 256 values.
//
//   plane 0   0  16 B  of each sub-block of 16: scale (low nibble), low (high nibble)
//            16  64 B  in each half of 128 values (32 B), bits 2j and 2j + 1 of byte i: value 32j + i
//   plane 1       4 B  d, dmin
//
// value = (d·scale)·q − dmin·low

//#include "bytes.wgsl"

struct Packed { qs: vec4<u32>, all: vec4<u32>, d: u32 }

fn packed(row: u32, unit: u32) -> Packed {
  let block = unit / 4u;
  let at = row + block * 5u;
  // In half unit / 2 % 2, the 16 of each 32 that unit % 2 names.
  return Packed(weights[at + 1u + unit % 4u], weights[at], weights[row + params.plane1 + block / 4u][block % 4u]);
}

fn unpacked(p: Packed, unit: u32) -> Unit {
  // Span s is sub-block 8·(unit / 2 % 2) + 2s + unit % 2.
  let pair = (select(p.all.xy, p.all.zw, unit / 2u % 2u == 1u) >> vec2<u32>(8u * (unit % 2u))) & vec2<u32>(0x00ff00ffu);
  let both = vec4<u32>(pair.x & 255u, pair.x >> 16u, pair.y & 255u, pair.y >> 16u);
  let d = unpack2x16float(p.d);
  let two = splat(0x03030303u);
  return Unit(
    array<mat4x4<f32>, 4>(
      sixteen(p.qs & two), sixteen((p.qs >> splat(2u)) & two),
      sixteen((p.qs >> splat(4u)) & two), sixteen((p.qs >> splat(6u)) & two)),
    d.x * vec4<f32>(both & splat(15u)), -d.y * vec4<f32>(both >> splat(4u)));
}

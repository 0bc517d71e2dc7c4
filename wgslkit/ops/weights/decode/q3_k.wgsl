// Q3_K: blocks of 256 values in one plane of 112 B.
//
//     0  32 B  bit k of byte i: bit 2 of value 32k + i
//    32  64 B  bits 0 and 1: in each half of 128 values (32 B), bits 2j and 2j + 1 of byte i: value 32j + i
//    96  12 B  scales of sub-blocks of 16: scale s has its low four bits in a nibble (s < 8: the low one of
//              byte s, else the high one of byte s − 8) and its top two in byte 8 + s mod 4, at bit 2·(s div 4)
//   108   2 B  d
//
// value = (d·(scale − 32))·(q − 4)

//#include "bytes.wgsl"

struct Packed { qs: vec4<u32>, high: vec4<u32>, tail: vec4<u32> }

fn packed(row: u32, unit: u32) -> Packed {
  let at = row + unit / 4u * 7u;
  // In half unit / 2 % 2, the 16 of each 32 that unit % 2 names.
  return Packed(weights[at + 2u + unit % 4u], weights[at + unit % 2u], weights[at + 6u]);
}

fn unpacked(p: Packed, unit: u32) -> Unit {
  let h = unit / 2u % 2u;
  let i = unit % 2u;
  let high = p.high >> splat(4u * h);
  // Span s is sub-block 8h + 2s + i: bytes i and i + 2 of the words that follow.
  let low = ((p.tail.xy >> vec2<u32>(4u * h)) & vec2<u32>(NIBBLES)) >> vec2<u32>(8u * i);
  let top = ((vec2<u32>(p.tail.z) >> (vec2<u32>(4u * h) + vec2<u32>(0u, 2u))) & vec2<u32>(0x03030303u)) >>
    vec2<u32>(8u * i);
  let six = low | (top << vec2<u32>(4u));
  let scale = unpack2x16float(p.tail.w).x *
    vec4<f32>(vec4<i32>((six.xxyy >> vec4<u32>(0u, 16u, 0u, 16u)) & splat(63u)) - vec4<i32>(32));
  let two = splat(0x03030303u);
  let bit2 = splat(0x04040404u);
  return Unit(
    array<mat4x4<f32>, 4>(
      sixteen((p.qs & two) | ((high << splat(2u)) & bit2)),
      sixteen(((p.qs >> splat(2u)) & two) | ((high << splat(1u)) & bit2)),
      sixteen(((p.qs >> splat(4u)) & two) | (high & bit2)),
      sixteen(((p.qs >> splat(6u)) & two) | ((high >> splat(1u)) & bit2))),
    scale, -4.0 * scale);
}

// IQ4_XS: blocks of 256 values, sub-blocks of 32.
//
//   plane 0  8 × 16 B  of each sub-block: nibbles, low ones values 0–15, high ones 16–31
//   plane 1       8 B  d, float16; bits 2s and 2s + 1 of the next 16: bits 4 and 5 of scale s;
//                      then a nibble for each sub-block: bits 0–3
//
// value = (d·(scale − 32))·level[q]

//#include "uneven.wgsl"

struct Packed { qs: vec4<u32>, header: vec2<u32> }

fn packed(row: u32, unit: u32) -> Packed {
  let block = unit / 8u;
  let two = weights[row + params.plane1 + block / 2u];
  return Packed(weights[row + unit], select(two.xy, two.zw, block % 2u == 1u));
}

fn unpacked(p: Packed, unit: u32) -> Unit {
  let s = unit % 8u;
  let six = ((p.header.y >> (4u * s)) & 15u) | (((p.header.x >> (16u + 2u * s)) & 3u) << 4u);
  let scale = unpack2x16float(p.header.x).x * f32(i32(six) - 32);
  return Unit(
    array<mat4x4<f32>, 2>(sixteen_levels(p.qs), sixteen_levels(p.qs >> splat(4u))),
    vec4<f32>(scale), vec4<f32>(0.0));
}

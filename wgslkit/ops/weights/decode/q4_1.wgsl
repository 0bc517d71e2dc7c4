// Q4_1: blocks of 32 values.
//
//   plane 0  16 B  nibbles: low ones values 0–15, high ones 16–31
//   plane 1   4 B  d, m
//
// value = d·q + m

//#include "bytes.wgsl"

struct Packed { qs: vec4<u32>, dm: u32 }

fn packed(row: u32, unit: u32) -> Packed {
  return Packed(weights[row + unit], weights[row + params.plane1 + unit / 4u][unit % 4u]);
}

fn unpacked(p: Packed, unit: u32) -> Unit {
  let dm = unpack2x16float(p.dm);
  return Unit(
    array<mat4x4<f32>, 2>(sixteen(p.qs & splat(NIBBLES)), sixteen((p.qs >> splat(4u)) & splat(NIBBLES))),
    vec4<f32>(dm.x), vec4<f32>(dm.y));
}

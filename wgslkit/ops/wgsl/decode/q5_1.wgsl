// Q5_1: blocks of 32 values.
//
//   plane 0  16 B  nibbles: low ones values 0–15, high ones 16–31
//   plane 1   4 B  bit l: bit 4 of value l
//   plane 2   4 B  d, m
//
// value = d·q + m

//#include "decode/five_bits.wgsl"

fn decode(row: u32, unit: u32) -> Unit {
  let high = weights[row + params.plane1 + unit / 4u][unit % 4u];
  let dm = unpack2x16float(weights[row + params.plane2 + unit / 4u][unit % 4u]);
  return Unit(five_bits(weights[row + unit], high), vec4<f32>(dm.x), vec4<f32>(dm.y));
}

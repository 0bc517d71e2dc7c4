// Q5_0: blocks of 32 values.
//
//   plane 0  16 B  nibbles: low ones values 0–15, high ones 16–31
//   plane 1   4 B  bit l: bit 4 of value l
//   plane 2   2 B  d
//
// value = d·(q − 16)

//#include "decode/five_bits.wgsl"

fn decode(row: u32, unit: u32) -> Unit {
  let high = weights[row + params.plane1 + unit / 4u][unit % 4u];
  let d = half_at(row + params.plane2, unit);
  return Unit(five_bits(weights[row + unit], high), vec4<f32>(d), vec4<f32>(-16.0 * d));
}

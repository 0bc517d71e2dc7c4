// Q5_0: blocks of 32 values.
//
//   plane 0  16 B  nibbles: low ones values 0–15, high ones 16–31
//   plane 1   4 B  bit l: bit 4 of value l
//   plane 2   2 B  d
//
// value = d·(q − 16)

//#include "five_bits.wgsl"

struct Packed { qs: vec4<u32>, high: u32, d: f32 }

fn packed(row: u32, unit: u32) -> Packed {
  return Packed(weights[row + unit], weights[row + params.plane1 + unit / 4u][unit % 4u],
    half_at(row + params.plane2, unit));
}

fn unpacked(p: Packed, unit: u32) -> Unit {
  return Unit(five_bits(p.qs, p.high), vec4<f32>(p.d), vec4<f32>(-16.0 * p.d));
}

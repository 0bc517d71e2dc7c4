// The two halves of a word, where unpack2x16float takes twice as long as this: on
// processors whose compiler knows no shift of a vector.
//
// A half's bits, but its sign, are moved to where a float32 has them, by
// products, and 112 is added to the exponent. The halves without an exponent
// then have a 1 too much in front: v < 2⁻¹⁴ is doubled and 2⁻¹⁴ taken off it.
// (An infinity comes out as 65536, a NaN as a number beyond it.)

const HALF_EXPONENT: i32 = 0x38000000; // 112

fn half_value(bits: i32, sign: i32) -> f32 {
  let v = bitcast<f32>(bits * 8192 + HALF_EXPONENT);
  let below = min(bitcast<i32>(v - 6.103515625e-05), 0); // as bits: of a number ≥ 0 none
  return bitcast<f32>(bitcast<i32>(v + bitcast<f32>(below)) | sign);
}

fn low_half(word: i32) -> f32 { return half_value(word & 0x7fff, (word & 0x8000) * 65536); }

// high_half finds the half's bits at the end of a float32 that counts ones.
fn high_half(word: i32) -> f32 {
  return half_value(bitcast<i32>(f32(word & 0x7fff0000) * (1.0 / 65536.0) + 8388608.0), word & -0x80000000);
}

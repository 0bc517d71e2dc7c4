// What MXFP4 and NVFP4 share: values of E2M1 (a sign, two bits of exponent, one of fraction), here doubled, which are
// whole: 0, 1, 2, 3, 4, 6, 8, 12.

//#include "bytes.wgsl"

// doubled is the values of the low nibbles of a word's bytes as int8.
fn doubled(word: u32) -> u32 {
  let m0 = word & 0x01010101u;
  let m1 = (word >> 1u) & 0x01010101u;
  let m2 = (word >> 2u) & 0x01010101u;
  let negative = (word >> 3u) & 0x01010101u;
  // Below 4 a value is its number; 4 to 7 stand for 4, 6, 8 and 12.
  let large = m2 & m1;
  let small = m0 | (m1 << 1u);
  let magnitude = (small & (0x03030303u ^ (m2 * 3u))) | ((m2 & m0 & ~m1) << 1u) |
    ((m2 & (~m1 | m0) & 0x01010101u) << 2u) | (large << 3u);
  // Two's complement of each byte; the one above 0 has no carry, since −0 is 0.
  let some = (magnitude | (magnitude >> 1u) | (magnitude >> 2u) | (magnitude >> 3u)) & negative;
  return (magnitude ^ (some * 255u)) + some;
}

fn four_floats(word: u32) -> vec4<f32> { return four_signed(doubled(word)); }

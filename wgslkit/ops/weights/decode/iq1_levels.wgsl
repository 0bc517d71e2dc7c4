// What IQ1_S and IQ1_M share: levels −1, 0 and 1 with a shift of an eighth, here in eighths.

//#include "pairs.wgsl"
//#include "bytes.wgsl"

// four_of is the numbers 0, 1, 2 of four levels in eighths, `shift` being −8 with the shift added.
fn four_of(pairs: u32, shift: f32) -> vec4<f32> { return four(spread_pairs(pairs) << 3u) + shift; }

// shift_of is what the level numbered 0 is in eighths: −7, or −9 where the shift is negative.
fn shift_of(negative: u32) -> f32 { return select(-7.0, -9.0, (negative & 1u) == 1u); }

// two_entries is sixteen values at two places of the codebook, each with a shift.
fn two_entries(first: u32, second: u32, a_shift: f32, b_shift: f32) -> mat4x4<f32> {
  let a = entry(first);
  let b = entry(second);
  return mat4x4<f32>(four_of(a, a_shift), four_of(a >> 8u, a_shift), four_of(b, b_shift), four_of(b >> 8u, b_shift));
}

// Logits as integers, so that every comparison is exact on every device, and
// values that WGSL has no promise for (NaN, infinities) stay bits.

const NEG_INF: u32 = 0xff800000u;
const POS_INF: u32 = 0x7f800000u;

fn is_bad(bits: u32) -> bool { return (bits & 0x7fffffffu) > POS_INF || bits == POS_INF; }

fn is_finite_key(key: u32) -> bool {
  return key > key_of(NEG_INF) && key < key_of(POS_INF);
}

// key_of is larger for a larger number; −0 is 0.
fn key_of(bits: u32) -> u32 {
  if (bits == 0x80000000u) { return 0x80000000u; }
  if (bits >= 0x80000000u) { return ~bits; }
  return bits | 0x80000000u;
}

fn bits_of(key: u32) -> u32 {
  if (key >= 0x80000000u) { return key & 0x7fffffffu; }
  return ~key;
}

// bin_of counts bins of 1 / scale from the largest logit down; the last takes
// the rest. With a power of two for scale all of it is exact, so that kernels
// agree about a token's bin.
fn bin_of(key: u32, largest: u32, scale: f32, limit: f32) -> u32 {
  if (key <= key_of(NEG_INF)) { return BINS - 1u; }
  return min(u32(bin_step(largest, scale, limit) - bin_step(key, scale, limit)), BINS - 1u);
}

fn bin_step(key: u32, scale: f32, limit: f32) -> i32 {
  return i32(floor(clamp(bitcast<f32>(bits_of(key)), -limit, limit) * scale));
}

// The random number of a seed and a position, a fraction in 2⁻³² of which the
// upper 24 bits are random: h = mix(low + 0x9e3779b9); h = mix(high + h);
// h = mix(position + h). The constants are a low-bias hash's (Wellons 2018).

fn mix_bits(value: u32) -> u32 {
  var x = value;
  x ^= x >> 16u;
  x *= 0x21f0aaadu;
  x ^= x >> 15u;
  x *= 0x735a2d97u;
  x ^= x >> 15u;
  return x;
}

fn uniform_fraction(low: u32, high: u32, position: u32) -> u32 {
  var h = mix_bits(low + 0x9e3779b9u);
  h = mix_bits(high + h);
  h = mix_bits(position + h);
  return h & 0xffffff00u;
}

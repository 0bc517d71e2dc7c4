//#include "sample_exp.wgsl"

// probability is exp of how far a token is below the largest; 0 where that is
// too far for a mass, which spares the division its overflow.
fn probability(key: u32, largest: u32, temperature: f32) -> f32 {
  if (key <= key_of(NEG_INF) || !is_finite_key(largest)) { return 0.0; }
  let below = bitcast<f32>(bits_of(key)) - bitcast<f32>(bits_of(largest));
  if (below < -28.5 * temperature) { return 0.0; }
  return exp_small(max(below / temperature, -29.0));
}

// A logit after penalties and bias, as bits; sample_scan.wgsl has the formula.
// Uses settings, memory and bias, and where MASKED, mask: bit t%32 of word t/32 is
// set for a token t that may be chosen.

fn adjust(token: u32, raw: u32) -> u32 {
  var bits = raw;
  if (bits == NEG_INF) { return bits; }
//#if MASKED
  if (((mask[token >> 5u] >> (token & 31u)) & 1u) == 0u) { return NEG_INF; }
//#end
  if (settings.window > 0u) {
    let count = memory[MEMORY_COUNTS + token];
    if (count > 0u) {
      let l = bitcast<f32>(bits);
      let repeated = select(l * settings.repetition, l / settings.repetition, l > 0.0);
      bits = bitcast<u32>(repeated - settings.presence - settings.frequency * f32(count));
    }
  }
  if (settings.biased != 0u) {
    let b = bias[token];
    if (b == NEG_INF) { return b; }
    if (b != 0u) { bits = bitcast<u32>(bitcast<f32>(bits) + bitcast<f32>(b)); }
  }
  return bits;
}

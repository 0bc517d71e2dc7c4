// A histogram in workgroup memory: how many tokens fall into each bin, and
// their mass. Mass is added in two words; a word that wraps carries one.

var<workgroup> bin_count: array<atomic<u32>, BINS>;
var<workgroup> bin_low: array<atomic<u32>, BINS>;
var<workgroup> bin_high: array<atomic<u32>, BINS>;

fn add_to_bin(bin: u32, mass: vec2<u32>) {
  atomicAdd(&bin_count[bin], 1u);
  let before = atomicAdd(&bin_low[bin], mass.x);
  let high = mass.y + select(0u, 1u, before + mass.x < before);
  if (high != 0u) { atomicAdd(&bin_high[bin], high); }
}

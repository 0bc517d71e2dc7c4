// A histogram: how many tokens fall into each bin, and their mass. Mass is added
// in two words; a word that wraps carries one. It lies in workgroup memory or,
// where STORED_BINS, in scratch, for devices that take long to clear the former.

//#if STORED_BINS
// Where the histogram's counts and masses begin. Who uses it has scratch_word(i).
var<private> count_at: u32;
var<private> low_at: u32;
var<private> high_at: u32;
var<private> massless: bool; // a histogram of counts alone

fn use_bins(count: u32, low: u32, high: u32, with_mass: bool) {
  count_at = count;
  low_at = low;
  high_at = high;
  massless = !with_mass;
}

fn bin_count_of(bin: u32) -> u32 { return scratch_word(count_at + bin); }

fn bin_mass(bin: u32) -> vec2<u32> {
  return select(vec2<u32>(scratch_word(low_at + bin), scratch_word(high_at + bin)), vec2<u32>(), massless);
}

fn bins_barrier() {
  storageBarrier();
  workgroupBarrier();
}
//#else
var<workgroup> bin_count: array<atomic<u32>, BINS>;
var<workgroup> bin_low: array<atomic<u32>, BINS>;
var<workgroup> bin_high: array<atomic<u32>, BINS>;

fn add_to_bin(bin: u32, mass: vec2<u32>) {
  atomicAdd(&bin_count[bin], 1u);
  let before = atomicAdd(&bin_low[bin], mass.x);
  let high = mass.y + select(0u, 1u, before + mass.x < before);
  if (high != 0u) { atomicAdd(&bin_high[bin], high); }
}

fn bin_count_of(bin: u32) -> u32 { return atomicLoad(&bin_count[bin]); }

fn bin_mass(bin: u32) -> vec2<u32> { return vec2<u32>(atomicLoad(&bin_low[bin]), atomicLoad(&bin_high[bin])); }

fn bins_barrier() { workgroupBarrier(); }
//#end

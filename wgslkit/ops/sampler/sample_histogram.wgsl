// Step 2 of sampling: each token's probability before it is normalised,
// p = exp((l − largest) / temperature), and a histogram of counts and masses by
// logit, in which step 3 finds where the choice lies. The same by the raw logits,
// counts alone, where log-probabilities are asked for.
//
// Tokens whose mass rounds to nothing are left out of the first histogram:
// nothing of what follows can choose them.

//#include "sample_settings.wgsl"
//#include "sample_key.wgsl"
//#include "sample_mass.wgsl"
//#include "sample_probability.wgsl"
//#include "sample_bins.wgsl"

@group(0) @binding(0) var<storage, read> settings: Settings;
@group(0) @binding(1) var<storage, read> logits: array<u32>;
@group(0) @binding(2) var<storage, read> adjusted: array<u32>;
@group(0) @binding(3) var<storage, read_write> probabilities: array<f32>;
@group(0) @binding(4) var<storage, read_write> scratch: array<atomic<u32>>;
@group(0) @binding(5) var<storage, read_write> list: array<u32>;

//#if !STORED_BINS
var<workgroup> raw_count: array<atomic<u32>, BINS>;
//#end
var<workgroup> best_key: atomic<u32>;
var<workgroup> raw_key: atomic<u32>;
// Masses of the whole workgroup, low and high words.
var<workgroup> min_p_low: atomic<u32>;
var<workgroup> min_p_high: atomic<u32>;
var<workgroup> raw_low: atomic<u32>;
var<workgroup> raw_high: atomic<u32>;

// add_mass adds to two words of scratch.
fn add_mass(low: u32, high: u32, mass: vec2<u32>) {
  let before = atomicAdd(&scratch[low], mass.x);
  let carried = mass.y + select(0u, 1u, before + mass.x < before);
  if (carried != 0u) { atomicAdd(&scratch[high], carried); }
}

//#if STORED_BINS
fn scratch_word(i: u32) -> u32 { return atomicLoad(&scratch[i]); }

fn add_to_bin(bin: u32, mass: vec2<u32>) {
  atomicAdd(&scratch[BIN_COUNT + bin], 1u);
  add_mass(BIN_LOW + bin, BIN_HIGH + bin, mass);
}

fn add_raw(bin: u32, count: u32) { atomicAdd(&scratch[RAW_COUNT + bin], count); }
//#else
fn add_raw(bin: u32, count: u32) { atomicAdd(&raw_count[bin], count); }
//#end

//#if UNZEROED
fn zero(lane: u32) {
  if (lane == 0u) {
    atomicStore(&best_key, 0u);
    atomicStore(&raw_key, 0u);
    atomicStore(&min_p_low, 0u);
    atomicStore(&min_p_high, 0u);
    atomicStore(&raw_low, 0u);
    atomicStore(&raw_high, 0u);
  }
//#if !STORED_BINS
  for (var bin = lane; bin < BINS; bin += THREADS) {
    atomicStore(&bin_count[bin], 0u);
    atomicStore(&bin_low[bin], 0u);
    atomicStore(&bin_high[bin], 0u);
    atomicStore(&raw_count[bin], 0u);
  }
//#end
  workgroupBarrier();
}
//#end

fn find_largest(lane: u32) {
  for (var g = lane; g < settings.groups; g += THREADS) {
    atomicMax(&best_key, atomicLoad(&scratch[PARTIALS + 4u * g]));
    atomicMax(&raw_key, atomicLoad(&scratch[PARTIALS + 4u * g + 2u]));
  }
  workgroupBarrier();
}

fn count_adjusted(first: u32, end: u32, lane: u32) {
  let largest = atomicLoad(&best_key);
  var min_p = vec2<u32>(0u, 0u);
  for (var i = first + lane; i < end; i += THREADS) {
    let key = key_of(adjusted[i]);
    let p = probability(key, largest, settings.temperature);
    probabilities[i] = p;
    let mass = mass_of(p);
    if ((mass.x | mass.y) == 0u) { continue; }
    add_to_bin(bin_of(key, largest, settings.bin_scale, settings.bin_limit), mass);
    if (p >= settings.min_p) { min_p = plus(min_p, mass); }
  }
  let before = atomicAdd(&min_p_low, min_p.x);
  atomicAdd(&min_p_high, min_p.y + select(0u, 1u, before + min_p.x < before));
}

fn count_raw(first: u32, end: u32, lane: u32) {
  let largest = atomicLoad(&raw_key);
  var sum = vec2<u32>(0u, 0u);
  var rest = 0u;
  for (var i = first + lane; i < end; i += THREADS) {
    var bits = logits[i];
    if (is_bad(bits)) { bits = NEG_INF; }
    let key = key_of(bits);
    sum = plus(sum, mass_of(probability(key, largest, 1.0)));
    let bin = bin_of(key, largest, settings.raw_scale, settings.raw_limit);
    if (bin == BINS - 1u) {
      rest++;
    } else {
      add_raw(bin, 1u);
    }
  }
  add_raw(BINS - 1u, rest);
  let before = atomicAdd(&raw_low, sum.x);
  atomicAdd(&raw_high, sum.y + select(0u, 1u, before + sum.x < before));
}

fn publish(lane: u32) {
//#if !STORED_BINS
  for (var bin = lane; bin < BINS; bin += THREADS) {
    let count = atomicLoad(&bin_count[bin]);
    if (count != 0u) {
      atomicAdd(&scratch[BIN_COUNT + bin], count);
      add_mass(BIN_LOW + bin, BIN_HIGH + bin, vec2<u32>(atomicLoad(&bin_low[bin]), atomicLoad(&bin_high[bin])));
    }
    let raw = atomicLoad(&raw_count[bin]);
    if (raw != 0u) { atomicAdd(&scratch[RAW_COUNT + bin], raw); }
  }
//#end
  if (lane == 0u) {
    add_mass(MIN_P_MASS, MIN_P_MASS + 1u, vec2<u32>(atomicLoad(&min_p_low), atomicLoad(&min_p_high)));
    add_mass(RAW_MASS, RAW_MASS + 1u, vec2<u32>(atomicLoad(&raw_low), atomicLoad(&raw_high)));
  }
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  if (settings.greedy != 0u && settings.logprobs == 0u) { return; }
//#if UNZEROED
  zero(lane);
//#end
  find_largest(lane);
  if (group.x == 0u && lane == 0u) {
    atomicStore(&scratch[BEST_KEY], atomicLoad(&best_key));
    atomicStore(&scratch[RAW_KEY], atomicLoad(&raw_key));
    list[0] = 0u;
    list[1] = 0u;
  }
  let first = group.x * settings.chunk;
  let end = min(first + settings.chunk, settings.vocab);
  if (settings.greedy == 0u) { count_adjusted(first, end, lane); }
  if (settings.logprobs > 0u) { count_raw(first, end, lane); }
  workgroupBarrier();
  publish(lane);
}

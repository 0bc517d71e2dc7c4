// Step 3 of sampling: lists the tokens among which step 4 has to look closer.
//
// The histogram tells masses up to a bin. Where top-k ends inside of a bin, the
// sum over what it keeps is known to lie in a range; so then is where top-p ends,
// and where the draw falls. All tokens of those bins are listed, in no order.
// Where log-probabilities are asked for, a second list takes the bins down to
// the last token to report.

//#include "sample_settings.wgsl"
//#include "sample_key.wgsl"
//#include "sample_mass.wgsl"
//#include "sample_random.wgsl"
//#include "sample_find.wgsl"

@group(0) @binding(0) var<storage, read> settings: Settings;
@group(0) @binding(1) var<storage, read> state: array<u32>;
@group(0) @binding(2) var<storage, read> logits: array<u32>;
@group(0) @binding(3) var<storage, read> adjusted: array<u32>;
@group(0) @binding(4) var<storage, read> probabilities: array<f32>;
@group(0) @binding(5) var<storage, read> scratch: array<u32>;
@group(0) @binding(6) var<storage, read_write> list: array<atomic<u32>>;

var<workgroup> group_length: atomic<u32>;
var<workgroup> group_start: u32;

//#if STORED_BINS
fn scratch_word(i: u32) -> u32 { return scratch[i]; }
//#end

// Bins of interest, from x to y each.
struct Bins { top_k: vec2<u32>, top_p: vec2<u32>, draw: vec2<u32> }

const NO_BINS = vec2<u32>(BINS, 0u);

fn inside(bin: u32, range: vec2<u32>) -> bool { return bin >= range.x && bin <= range.y; }

fn plan_adjusted(lane: u32) -> Bins {
//#if STORED_BINS
  use_bins(BIN_COUNT, BIN_LOW, BIN_HIGH, true);
//#else
  for (var bin = lane; bin < BINS; bin += THREADS) {
    atomicStore(&bin_count[bin], scratch[BIN_COUNT + bin]);
    atomicStore(&bin_low[bin], scratch[BIN_LOW + bin]);
    atomicStore(&bin_high[bin], scratch[BIN_HIGH + bin]);
  }
  workgroupBarrier();
//#end
  sum_bins(lane);
  var bins = Bins(NO_BINS, NO_BINS, NO_BINS);
  // The mass that stays is at least `low` and at most `high`.
  var low = total_mass();
  var high = low;
  if (settings.top_k > 0u) {
    find(vec2<u32>(settings.top_k - 1u, 0u), true, lane);
    if (found.count > 0u) {
      bins.top_k = vec2<u32>(found.bin, found.bin);
      low = found.mass_before;
      high = plus(low, found.mass);
    }
  }
  if (settings.top_p > 0u) {
    let reach_low = top_p_target(low, settings.top_p);
    let reach_high = top_p_target(high, settings.top_p);
    find(reach_low, false, lane);
    bins.top_p.x = found.bin;
    low = least(low, found.mass_before);
    find(reach_high, false, lane);
    bins.top_p.y = found.bin;
    high = least(high, plus(found.mass_before, found.mass));
  }
  let min_p = vec2<u32>(scratch[MIN_P_MASS], scratch[MIN_P_MASS + 1u]);
  low = least(low, min_p);
  high = least(high, min_p);
  let u = uniform_fraction(settings.seed_low, settings.seed_high, state[0] + state[1]);
  find(part(low, u).whole, false, lane);
  bins.draw.x = found.bin;
  find(part(high, u).whole, false, lane);
  bins.draw.y = found.bin;
  return bins;
}

fn plan_raw(lane: u32) -> Bins {
  workgroupBarrier();
//#if STORED_BINS
  use_bins(RAW_COUNT, 0u, 0u, false);
//#else
  for (var bin = lane; bin < BINS; bin += THREADS) {
    atomicStore(&bin_count[bin], scratch[RAW_COUNT + bin]);
    atomicStore(&bin_low[bin], 0u);
    atomicStore(&bin_high[bin], 0u);
  }
  workgroupBarrier();
//#end
  sum_bins(lane);
  find(vec2<u32>(settings.logprobs - 1u, 0u), true, lane);
  return Bins(vec2<u32>(0u, found.bin), NO_BINS, NO_BINS);
}

fn entry_key(token: u32, raw: bool) -> u32 {
  if (!raw) { return key_of(adjusted[token]); }
  let bits = logits[token];
  if (is_bad(bits)) { return key_of(NEG_INF); }
  return key_of(bits);
}

fn wanted(token: u32, key: u32, bins: Bins, raw: bool) -> bool {
  var bin = 0u;
  if (raw) {
    bin = bin_of(key, scratch[RAW_KEY], settings.raw_scale, settings.raw_limit);
  } else {
    bin = bin_of(key, scratch[BEST_KEY], settings.bin_scale, settings.bin_limit);
  }
  if (!inside(bin, bins.top_k) && !inside(bin, bins.top_p) && !inside(bin, bins.draw)) { return false; }
  if (raw) { return true; }
  let mass = mass_of(probabilities[token]);
  return (mass.x | mass.y) != 0u;
}

fn gather(first: u32, end: u32, bins: Bins, raw: bool, lane: u32) {
  var mine = 0u;
  for (var i = first + lane; i < end; i += THREADS) {
    if (wanted(i, entry_key(i, raw), bins, raw)) { mine++; }
  }
  workgroupBarrier();
  if (lane == 0u) { atomicStore(&group_length, 0u); }
  workgroupBarrier();
  let offset = atomicAdd(&group_length, mine);
  workgroupBarrier();
  if (lane == 0u) { group_start = atomicAdd(&list[select(0u, 1u, raw)], atomicLoad(&group_length)); }
  workgroupBarrier();
  if (mine > 0u) { write_entries(first, end, bins, raw, group_start + offset, lane); }
}

fn write_entries(first: u32, end: u32, bins: Bins, raw: bool, start: u32, lane: u32) {
  var at = select(LIST_ENTRIES, settings.raw_list, raw) + 3u * start;
  for (var i = first + lane; i < end; i += THREADS) {
    let key = entry_key(i, raw);
    if (wanted(i, key, bins, raw)) {
      atomicStore(&list[at], ~key);
      atomicStore(&list[at + 1u], i);
      if (!raw) { atomicStore(&list[at + 2u], bitcast<u32>(probabilities[i])); }
      at += 3u;
    }
  }
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  if (settings.greedy != 0u && settings.logprobs == 0u) { return; }
  let first = group.x * settings.chunk;
  let end = min(first + settings.chunk, settings.vocab);
  if (settings.greedy == 0u) { gather(first, end, plan_adjusted(lane), false, lane); }
  if (settings.logprobs > 0u) { gather(first, end, plan_raw(lane), true, lane); }
}

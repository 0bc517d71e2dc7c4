// Step 4 of sampling, one workgroup: the choice, and what follows from it.
//
//   Z = mass of the top_k largest tokens;
//   S = the least of Z, the shortest mass from the top that is ≥ top_p · Z, and
//       the mass of the tokens with p ≥ min_p;
//   the token is the first from the top at which the mass so far exceeds u · S.
//
// From the top: descending by logit, of equals the lower token first. All of
// these are one question (seek): the first token at which a sum, of tokens or of mass,
// exceeds a target. What top-k, top-p and min-p keep are all runs from the top,
// so the smallest is what all of them keep.

//#include "sample_settings.wgsl"
//#include "sample_key.wgsl"
//#include "sample_mass.wgsl"
//#include "sample_random.wgsl"
//#include "sample_find.wgsl"

@group(0) @binding(0) var<storage, read> settings: Settings;
@group(0) @binding(1) var<storage, read_write> state: array<u32>;
@group(0) @binding(2) var<storage, read> logits: array<u32>;
//#if STORED_BINS
@group(0) @binding(3) var<storage, read_write> scratch: array<atomic<u32>>;
//#else
@group(0) @binding(3) var<storage, read> scratch: array<u32>;
//#end
@group(0) @binding(4) var<storage, read> list: array<u32>;
@group(0) @binding(5) var<storage, read_write> tokens: array<u32>;
@group(0) @binding(6) var<storage, read_write> memory: array<u32>;

//#if STORED_BINS
fn scratch_word(i: u32) -> u32 { return atomicLoad(&scratch[i]); }

// The histograms that are made here, and the room, stand behind what the other steps left.
fn work_count() -> u32 { return PARTIALS + 4u * settings.groups; }
fn work_low() -> u32 { return work_count() + BINS; }
fn work_high() -> u32 { return work_low() + BINS; }

fn set_work(i: u32, count: u32, low: u32, high: u32) {
  atomicStore(&scratch[work_count() + i], count);
  atomicStore(&scratch[work_low() + i], low);
  atomicStore(&scratch[work_high() + i], high);
}

fn add_to_bin(bin: u32, mass: vec2<u32>) {
  atomicAdd(&scratch[work_count() + bin], 1u);
  let before = atomicAdd(&scratch[work_low() + bin], mass.x);
  let high = mass.y + select(0u, 1u, before + mass.x < before);
  if (high != 0u) { atomicAdd(&scratch[work_high() + bin], high); }
}

fn room_order(slot: u32) -> u32 { return scratch_word(work_count() + slot); }
fn room_token(slot: u32) -> u32 { return scratch_word(work_low() + slot); }
fn room_mass(slot: u32) -> vec2<u32> { return mass_of(bitcast<f32>(scratch_word(work_high() + slot))); }
//#else
fn scratch_word(i: u32) -> u32 { return scratch[i]; }

fn set_work(i: u32, count: u32, low: u32, high: u32) {
  atomicStore(&bin_count[i], count);
  atomicStore(&bin_low[i], low);
  atomicStore(&bin_high[i], high);
}

fn room_order(slot: u32) -> u32 { return atomicLoad(&bin_count[slot]); }
fn room_token(slot: u32) -> u32 { return atomicLoad(&bin_low[slot]); }
fn room_mass(slot: u32) -> vec2<u32> { return mass_of(bitcast<f32>(atomicLoad(&bin_high[slot]))); }
//#end

var<workgroup> best_key: atomic<u32>;
var<workgroup> best_token: atomic<u32>;
var<workgroup> raw_key: atomic<u32>;
var<workgroup> bad: atomic<u32>;

fn reduce_partials(lane: u32) {
//#if UNZEROED
  if (lane == 0u) {
    atomicStore(&best_key, 0u);
    atomicStore(&raw_key, 0u);
    atomicStore(&bad, 0u);
  }
  workgroupBarrier();
//#end
  if (lane == 0u) { atomicStore(&best_token, 0xffffffffu); }
  for (var g = lane; g < settings.groups; g += THREADS) {
    atomicMax(&best_key, scratch_word(PARTIALS + 4u * g));
    atomicMax(&raw_key, scratch_word(PARTIALS + 4u * g + 2u));
    atomicOr(&bad, scratch_word(PARTIALS + 4u * g + 3u));
  }
  workgroupBarrier();
  for (var g = lane; g < settings.groups; g += THREADS) {
    if (scratch_word(PARTIALS + 4u * g) == atomicLoad(&best_key)) {
      atomicMin(&best_token, scratch_word(PARTIALS + 4u * g + 1u));
    }
  }
  workgroupBarrier();
}

// A range of the listed tokens: those of a bin of which `order`, and where
// order_low = order_high also the token, lies between bounds, both included.
// Order is smaller for a larger logit.
struct Range { bin: u32, order_low: u32, order_high: u32, token_low: u32, token_high: u32 }

// Where a sum exceeds its target: the token, its order, and the mass up to it.
struct Place { order: u32, token: u32, mass: vec2<u32> }

// As many tokens as are compared one with another. They stand where the bins
// were, which are done with by then: workgroup memory is zeroed at each start,
// and a software rasterizer takes its time for that.
const ROOM: u32 = 256u;
var<workgroup> room_length: atomic<u32>;
var<workgroup> place: Place;
var<workgroup> lowest: atomic<u32>;
var<workgroup> highest: atomic<u32>;

fn list_length(raw: bool) -> u32 { return list[select(0u, 1u, raw)]; }
fn list_entry(i: u32, raw: bool) -> u32 { return select(LIST_ENTRIES, settings.raw_list, raw) + 3u * i; }

// entry_weight is a token's probability, as bits.
fn entry_weight(at: u32, raw: bool) -> u32 {
  if (raw) { return 0u; }
  return list[at + 2u];
}

fn entry_bin(order: u32, raw: bool) -> u32 {
  if (raw) { return bin_of(~order, scratch_word(RAW_KEY), settings.raw_scale, settings.raw_limit); }
  return bin_of(~order, scratch_word(BEST_KEY), settings.bin_scale, settings.bin_limit);
}

fn in_range(order: u32, token: u32, range: Range, raw: bool) -> bool {
  return order >= range.order_low && order <= range.order_high
    && token >= range.token_low && token <= range.token_high && entry_bin(order, raw) == range.bin;
}

// load_bins brings the level-1 histogram back.
fn load_bins(raw: bool, lane: u32) {
  bins_barrier();
//#if STORED_BINS
  use_bins(select(BIN_COUNT, RAW_COUNT, raw), BIN_LOW, BIN_HIGH, !raw);
//#else
  for (var bin = lane; bin < BINS; bin += THREADS) {
    set_work(bin, scratch_word(select(BIN_COUNT, RAW_COUNT, raw) + bin), select(scratch_word(BIN_LOW + bin), 0u, raw),
      select(scratch_word(BIN_HIGH + bin), 0u, raw));
  }
  bins_barrier();
//#end
  sum_bins(lane);
}

// bound narrows a range to the orders that there are.
fn bound(range: Range, raw: bool, lane: u32) -> Range {
  workgroupBarrier();
  if (lane == 0u) {
    atomicStore(&lowest, 0xffffffffu);
    atomicStore(&highest, 0u);
  }
  workgroupBarrier();
  var low = 0xffffffffu;
  var high = 0u;
  for (var i = lane; i < list_length(raw); i += THREADS) {
    let at = list_entry(i, raw);
    if (in_range(list[at], list[at + 1u], range, raw)) {
      low = min(low, list[at]);
      high = max(high, list[at]);
    }
  }
  atomicMin(&lowest, low);
  atomicMax(&highest, high);
  workgroupBarrier();
  return Range(range.bin, atomicLoad(&lowest), atomicLoad(&highest), range.token_low, range.token_high);
}

// shift_for makes at most BINS bins of the numbers from low to high.
fn shift_for(low: u32, high: u32) -> u32 {
  var shift = 0u;
  for (var width = high - low; width >= BINS; width = width >> 1u) { shift++; }
  return shift;
}

// refine makes a histogram of a range, by order, or by token where all are equal.
fn refine(range: Range, raw: bool, lane: u32) {
  bins_barrier();
//#if STORED_BINS
  use_bins(work_count(), work_low(), work_high(), true);
//#end
  for (var bin = lane; bin < BINS; bin += THREADS) { set_work(bin, 0u, 0u, 0u); }
  bins_barrier();
  let equal = range.order_low == range.order_high;
  let low = select(range.order_low, range.token_low, equal);
  let shift = shift_for(low, select(range.order_high, range.token_high, equal));
  for (var i = lane; i < list_length(raw); i += THREADS) {
    let at = list_entry(i, raw);
    let order = list[at];
    let token = list[at + 1u];
    if (in_range(order, token, range, raw)) {
      add_to_bin((select(order, token, equal) - low) >> shift, mass_of(bitcast<f32>(entry_weight(at, raw))));
    }
  }
  bins_barrier();
  sum_bins(lane);
}

// part_of is the range of one bin that refine made of a range.
fn part_of(range: Range, bin: u32) -> Range {
  var out = range;
  if (range.order_low == range.order_high) {
    let shift = shift_for(range.token_low, range.token_high);
    out.token_low = range.token_low + (bin << shift);
    out.token_high = min(range.token_high, out.token_low + ((1u << shift) - 1u));
  } else {
    let shift = shift_for(range.order_low, range.order_high);
    out.order_low = range.order_low + (bin << shift);
    out.order_high = min(range.order_high, out.order_low + ((1u << shift) - 1u));
  }
  return out;
}

fn comes_before(order: u32, token: u32, other_order: u32, other_token: u32) -> bool {
  return order < other_order || (order == other_order && token < other_token);
}

// fill_room takes the tokens of a range into workgroup memory.
fn fill_room(range: Range, raw: bool, lane: u32) {
  bins_barrier();
  if (lane == 0u) { atomicStore(&room_length, 0u); }
  workgroupBarrier();
  for (var i = lane; i < list_length(raw); i += THREADS) {
    let at = list_entry(i, raw);
    if (in_range(list[at], list[at + 1u], range, raw)) { put_in_room(at, raw); }
  }
  bins_barrier();
}

fn put_in_room(at: u32, raw: bool) {
  let slot = atomicAdd(&room_length, 1u);
  if (slot < ROOM) {
    set_work(slot, list[at], list[at + 1u], entry_weight(at, raw));
  }
}

// search_room leaves in place the token at which the sum over those before it
// and itself exceeds the target. mass_before is the mass of what is above the room.
fn search_room(target_sum: vec2<u32>, by_count: bool, mass_before: vec2<u32>, lane: u32) {
  let length = min(atomicLoad(&room_length), ROOM);
  for (var i = lane; i < length; i += THREADS) {
    var count = 0u;
    var mass = vec2<u32>(0u, 0u);
    for (var j = 0u; j < length; j++) {
      if (comes_before(room_order(j), room_token(j), room_order(i), room_token(i))) {
        count++;
        mass = plus(mass, room_mass(j));
      }
    }
    let with_this = plus(mass, room_mass(i));
    let below = select(mass, vec2<u32>(count, 0u), by_count);
    let above = select(with_this, vec2<u32>(count + 1u, 0u), by_count);
    if (!less(target_sum, below) && less(target_sum, above)) {
      place = Place(room_order(i), room_token(i), plus(mass_before, with_this));
    }
  }
}

// The questions, in the order in which they are asked.
const TOP_K: u32 = 0u;
const TOP_P: u32 = 1u;
const DRAW: u32 = 2u;
const REPORT: u32 = 3u;

// questions has a bit for each that the settings ask.
fn questions() -> u32 {
  var bits = select(0u, 1u << REPORT, settings.logprobs > 0u);
  if (settings.greedy == 0u) {
    bits |= 1u << DRAW;
    bits |= select(0u, 1u << TOP_K, settings.top_k > 0u);
    bits |= select(0u, 1u << TOP_P, settings.top_p > 0u);
  }
  return bits;
}

// target_of is what the sum has to exceed; `stays` is the mass of what is kept so far.
fn target_of(question: u32, stays: vec2<u32>, position: u32) -> vec2<u32> {
  switch (question) {
    case TOP_K: { return vec2<u32>(settings.top_k - 1u, 0u); }
    case TOP_P: { return top_p_target(stays, settings.top_p); }
    case DRAW: {
      let min_p = vec2<u32>(scratch_word(MIN_P_MASS), scratch_word(MIN_P_MASS + 1u));
      return part(least(stays, min_p), uniform_fraction(settings.seed_low, settings.seed_high, position)).whole;
    }
    default: { return vec2<u32>(settings.logprobs - 1u, 0u); }
  }
}

// seek answers a question: the bin, then finer bins within it as long as it
// holds more than ROOM, then the token. Where the sum never exceeds the target it
// is the best token, with all of the mass.
fn seek(question: u32, stays: vec2<u32>, position: u32, lane: u32) -> Place {
  let raw = question == REPORT;
  let by_count = raw || question == TOP_K;
  load_bins(raw, lane);
  if (lane == 0u) { place = Place(~atomicLoad(&best_key), atomicLoad(&best_token), total_mass()); }
  var rest = target_of(question, least(stays, total_mass()), position);
  var mass_before = vec2<u32>(0u, 0u);
  var range = Range(0u, 0u, 0xffffffffu, 0u, settings.vocab - 1u);
  find(rest, by_count, lane);
  var at = workgroupUniformLoad(&found);
  range.bin = at.bin;
  if (at.count > ROOM) { range = bound(range, raw, lane); }
  loop {
    rest = minus(rest, select(at.mass_before, vec2<u32>(at.count_before, 0u), by_count));
    mass_before = plus(mass_before, at.mass_before);
    if (at.count <= ROOM) { break; }
    refine(range, raw, lane);
    find(rest, by_count, lane);
    at = workgroupUniformLoad(&found);
    range = part_of(range, at.bin);
  }
  fill_room(range, raw, lane);
  search_room(rest, by_count, mass_before, lane);
  return workgroupUniformLoad(&place);
}

// report writes the most probable tokens by the raw logits down to the last,
// best first.
fn report(last: Place, at: u32, lane: u32) {
  bins_barrier();
  if (lane == 0u) { atomicStore(&room_length, 0u); }
  workgroupBarrier();
  for (var i = lane; i < list_length(true); i += THREADS) {
    let entry = list_entry(i, true);
    if (!comes_before(last.order, last.token, list[entry], list[entry + 1u])) { put_in_room(entry, true); }
  }
  bins_barrier();
  let length = min(atomicLoad(&room_length), settings.logprobs);
  for (var i = lane; i < length; i += THREADS) {
    var rank = 0u;
    for (var j = 0u; j < length; j++) {
      if (comes_before(room_order(j), room_token(j), room_order(i), room_token(i))) { rank++; }
    }
    memory[at + RESULT_TOP + 2u * rank] = room_token(i);
    memory[at + RESULT_TOP + 2u * rank + 1u] = log_probability(room_token(i));
  }
}

// log_probability of a token under the raw logits, as bits.
fn log_probability(token: u32) -> u32 {
  let bits = logits[token];
  if (bits == NEG_INF || is_bad(bits)) { return NEG_INF; }
  let below = bitcast<f32>(bits) - bitcast<f32>(bits_of(atomicLoad(&raw_key)));
  return bitcast<u32>(below - log(mass_float(vec2<u32>(scratch_word(RAW_MASS), scratch_word(RAW_MASS + 1u)))));
}

// remember appends the token to the history and moves the window of counts.
fn remember(token: u32, position: u32) {
  if (settings.window > 0u) {
    memory[MEMORY_COUNTS + token]++;
    if (position >= settings.window) {
      forget(memory[settings.history_at + (position - settings.window) % settings.history]);
    }
  }
  memory[settings.history_at + position % settings.history] = token;
  memory[0] = position + 1u;
}

fn forget(token: u32) {
  if (token < settings.vocab && memory[MEMORY_COUNTS + token] > 0u) { memory[MEMORY_COUNTS + token]--; }
}

@compute @workgroup_size(THREADS)
fn main(@builtin(local_invocation_index) lane: u32) {
  let position = state[0] + state[1];
  let at = settings.results_at + (position % settings.results) * settings.result_words;
  reduce_partials(lane);
  var token = atomicLoad(&best_token);
  var stays = vec2<u32>(0xffffffffu, 0xffffffffu);
  // A software rasterizer walks through code that is masked out, but leaves a loop.
  for (var open = questions(); open != 0u; open &= open - 1u) {
    let question = firstTrailingBit(open);
    let answer = seek(question, stays, position, lane);
    if (question == REPORT) {
      report(answer, at, lane);
    } else {
      stays = answer.mass;
      token = answer.token;
    }
  }
  workgroupBarrier();
  if (lane != 0u) { return; }
  token = min(token, settings.vocab - 1u);
  memory[at] = token;
  memory[at + 1u] = select(0u, 1u, atomicLoad(&bad) != 0u || !is_finite_key(atomicLoad(&best_key)));
  memory[at + 2u] = position;
  memory[at + 3u] = settings.logprobs;
  if (settings.logprobs > 0u) { memory[at + 4u] = log_probability(token); }
  remember(token, position);
  tokens[0] = token;
  state[0] = position;
  state[1] = 1u;
}

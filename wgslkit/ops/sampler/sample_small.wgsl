// Sampling in one kernel of four threads, a subgroup, without a barrier: for
// processors on which barriers, workgroup memory and compiling cost more than
// the work. It chooses what the four steps choose (sample_scan.wgsl and those
// after it), and leaves the same results; sample_choose.wgsl says what is sought.
//
// Thread l has the tokens ≡ l (mod 4) and reads nothing that another one wrote.
// Words of `work`:
//
//   3 · BINS for each thread: count, mass (low, high) of each bin
//   the adjusted logits, then the probabilities, of each token
//   lists: entries of 3 words (order, token, probability), thread l's are number l, l + 4, …

//#enable subgroups
//#include "sample_settings.wgsl"
//#include "sample_key.wgsl"
//#include "sample_mass.wgsl"
//#include "sample_probability.wgsl"
//#include "sample_random.wgsl"

@group(0) @binding(0) var<storage, read> settings: Settings;
@group(0) @binding(1) var<storage, read_write> state: array<u32>;
@group(0) @binding(2) var<storage, read> logits: array<u32>;
@group(0) @binding(3) var<storage, read> bias: array<u32>;
@group(0) @binding(4) var<storage, read_write> tokens: array<u32>;
@group(0) @binding(5) var<storage, read_write> memory: array<u32>;
@group(0) @binding(6) var<storage, read_write> work: array<u32>;
//#if MASKED
@group(0) @binding(7) var<storage, read> mask: array<u32>;
//#end

//#include "sample_adjust.wgsl"

const THREADS: u32 = 4u;
const ADJUSTED: u32 = THREADS * 3u * BINS;

fn probability_at(token: u32) -> u32 { return ADJUSTED + settings.vocab + token; }
fn entry_at(i: u32, lane: u32) -> u32 { return ADJUSTED + 2u * settings.vocab + 3u * (THREADS * i + lane); }
fn bin_at(bin: u32, lane: u32) -> u32 { return 3u * (lane * BINS + bin); }

@diagnostic(off, subgroup_uniformity)
fn of_all(mass: vec2<u32>) -> vec2<u32> {
  return plus(plus(subgroupBroadcast(mass, 0u), subgroupBroadcast(mass, 1u)),
    plus(subgroupBroadcast(mass, 2u), subgroupBroadcast(mass, 3u)));
}

// The largest logit with its lowest token, the largest raw one, and whether a raw one was bad.
struct Best { key: u32, token: u32, raw_key: u32, bad: u32 }

@diagnostic(off, subgroup_uniformity)
fn scan(lane: u32) -> Best {
  var best = Best(0u, 0u, 0u, 0u);
  for (var i = lane; i < settings.vocab; i += THREADS) {
    let raw = raw_bits(i);
    best.bad = max(best.bad, select(0u, 1u, is_bad(logits[i])));
    let l = adjust(i, raw);
    work[ADJUSTED + i] = l;
    best.raw_key = max(best.raw_key, key_of(raw));
    let key = key_of(l);
    if (key > best.key) {
      best.key = key;
      best.token = i;
    }
  }
  let largest = subgroupMax(best.key);
  let token = subgroupMin(select(0xffffffffu, best.token, best.key == largest));
  return Best(largest, token, subgroupMax(best.raw_key), subgroupMax(best.bad));
}

fn raw_bits(token: u32) -> u32 {
  let bits = logits[token];
  return select(bits, NEG_INF, is_bad(bits));
}

// fill makes the histogram, and returns the masses of all tokens and of those
// that min-p keeps (x, y and z, w).
@diagnostic(off, subgroup_uniformity)
fn fill(largest: u32, lane: u32) -> vec4<u32> {
  for (var word = 0u; word < 3u * BINS; word++) { work[bin_at(0u, lane) + word] = 0u; }
  var total = vec2<u32>();
  var kept = vec2<u32>();
  for (var i = lane; i < settings.vocab; i += THREADS) {
    let key = key_of(work[ADJUSTED + i]);
    let p = probability(key, largest, settings.temperature);
    work[probability_at(i)] = bitcast<u32>(p);
    let mass = mass_of(p);
    if ((mass.x | mass.y) == 0u) { continue; }
    let at = bin_at(bin_of(key, largest, settings.bin_scale, settings.bin_limit), lane);
    let sum = plus(vec2<u32>(work[at + 1u], work[at + 2u]), mass);
    work[at]++;
    work[at + 1u] = sum.x;
    work[at + 2u] = sum.y;
    total = plus(total, mass);
    if (p >= settings.min_p) { kept = plus(kept, mass); }
  }
  return vec4<u32>(of_all(total), of_all(kept));
}

// Where a sum exceeds its target: the token, and the mass up to it.
struct Place { token: u32, mass: vec2<u32> }

// seek finds the first token at which a sum, of tokens or of mass, exceeds the
// target; where none does, `otherwise`. First the bin, then its tokens' order
// by halving, then, of equals, the token.
@diagnostic(off, subgroup_uniformity)
fn seek(target_sum: vec2<u32>, by_count: bool, largest: u32, otherwise: Place, lane: u32) -> Place {
  var count = 0u;
  var mass = vec2<u32>();
  var bin = 0u;
  for (; bin < BINS; bin++) {
    let at = bin_at(bin, lane);
    let c = count + subgroupAdd(work[at]);
    let m = plus(mass, of_all(vec2<u32>(work[at + 1u], work[at + 2u])));
    if (less(target_sum, select(m, vec2<u32>(c, 0u), by_count))) { break; }
    count = c;
    mass = m;
  }
  if (bin == BINS) { return otherwise; }
  let rest = minus(target_sum, select(mass, vec2<u32>(count, 0u), by_count));

  var entries = 0u;
  var lowest = 0xffffffffu;
  var highest = 0u;
  for (var i = lane; i < settings.vocab; i += THREADS) {
    let key = key_of(work[ADJUSTED + i]);
    let p = work[probability_at(i)];
    let m = mass_of(bitcast<f32>(p));
    if ((m.x | m.y) != 0u && bin_of(key, largest, settings.bin_scale, settings.bin_limit) == bin) {
      let at = entry_at(entries, lane);
      work[at] = ~key;
      work[at + 1u] = i;
      work[at + 2u] = p;
      entries++;
      lowest = min(lowest, ~key);
      highest = max(highest, ~key);
    }
  }
  lowest = subgroupMin(lowest);
  highest = subgroupMax(highest);
  var order = 0u;
  var place = otherwise;
  for (var turn = 0u; turn < 2u; turn++) {
    let by_order = turn == 0u;
    var low = select(0u, lowest, by_order);
    var high = select(settings.vocab - 1u, highest, by_order);
    loop {
      let middle = low + (high - low) / 2u;
      let last_order = select(order, middle, by_order);
      let last_token = select(middle, 0xffffffffu, by_order);
      var c = 0u;
      var m = vec2<u32>();
      for (var i = 0u; i < entries; i++) {
        let at = entry_at(i, lane);
        if (work[at] < last_order || (work[at] == last_order && work[at + 1u] <= last_token)) {
          c++;
          m = plus(m, mass_of(bitcast<f32>(work[at + 2u])));
        }
      }
      let sum = of_all(m);
      place = Place(low, plus(mass, sum));
      if (low == high) { break; }
      if (less(rest, select(sum, vec2<u32>(subgroupAdd(c), 0u), by_count))) {
        high = middle;
      } else {
        low = middle + 1u;
      }
    }
    order = low;
  }
  return place;
}

// The questions, in the order in which they are asked.
const TOP_K: u32 = 0u;
const TOP_P: u32 = 1u;
const DRAW: u32 = 2u;

fn asked(question: u32) -> bool {
  return question == DRAW || (question == TOP_K && settings.top_k > 0u) || (question == TOP_P && settings.top_p > 0u);
}

// mass_target is what the sum of masses has to exceed: top_p_target of what stays
// or, to draw, a random part of it, of which min-p may keep less.
fn mass_target(question: u32, stays: vec2<u32>, kept: vec2<u32>, position: u32) -> vec2<u32> {
  let drawn = question == DRAW;
  let fraction = select(settings.top_p, uniform_fraction(settings.seed_low, settings.seed_high, position), drawn);
  let reach = part(least(stays, select(stays, kept, drawn)), fraction);
  let short = reach.cut || drawn || (reach.whole.x | reach.whole.y) == 0u;
  return minus(reach.whole, vec2<u32>(select(1u, 0u, short), 0u));
}

// draw is the token that a random number chooses of what top-k, top-p and min-p keep.
@diagnostic(off, subgroup_uniformity)
fn draw(best: Best, position: u32, lane: u32) -> u32 {
  let masses = fill(best.key, lane);
  let all = Place(best.token, masses.xy);
  var stays = masses.xy;
  var token = best.token;
  for (var question = TOP_K; question <= DRAW; question++) {
    if (!asked(question)) { continue; }
    var target_sum = vec2<u32>(settings.top_k - 1u, 0u);
    if (question != TOP_K) { target_sum = mass_target(question, stays, masses.zw, position); }
    let answer = seek(target_sum, question == TOP_K, best.key, all, lane);
    stays = answer.mass;
    token = answer.token;
  }
  return token;
}

// log_probability of a token under the raw logits, as bits.
fn log_probability(token: u32, best: Best, mass: vec2<u32>) -> u32 {
  let bits = raw_bits(token);
  if (bits == NEG_INF) { return NEG_INF; }
  return bitcast<u32>(bitcast<f32>(bits) - bitcast<f32>(bits_of(best.raw_key)) - log(mass_float(mass)));
}

// report writes the most probable tokens by the raw logits, best first.
@diagnostic(off, subgroup_uniformity)
fn report(token: u32, best: Best, at: u32, lane: u32) {
  var sum = vec2<u32>();
  for (var i = lane; i < settings.vocab; i += THREADS) {
    sum = plus(sum, mass_of(probability(key_of(raw_bits(i)), best.raw_key, 1.0)));
  }
  let mass = of_all(sum);
  // The one to write next is the first from here on.
  var from_order = 0u;
  var from_token = 0u;
  for (var rank = 0u; rank <= settings.logprobs; rank++) {
    if (lane == 0u) {
      let value = log_probability(select(from_token - 1u, token, rank == 0u), best, mass);
      memory[at + select(RESULT_TOP + 2u * rank - 1u, 4u, rank == 0u)] = value;
      if (rank > 0u) { memory[at + RESULT_TOP + 2u * rank - 2u] = from_token - 1u; }
    }
    var order = 0xffffffffu;
    var next = 0xffffffffu;
    for (var i = lane; i < settings.vocab; i += THREADS) {
      let o = ~key_of(raw_bits(i));
      if ((o > from_order || (o == from_order && i >= from_token)) && o < order) {
        order = o;
        next = i;
      }
    }
    from_order = subgroupMin(order);
    from_token = subgroupMin(select(0xffffffffu, next, order == from_order)) + 1u;
  }
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
@diagnostic(off, subgroup_uniformity)
fn main(@builtin(local_invocation_index) lane: u32) {
  let position = state[0] + state[1];
  let at = settings.results_at + (position % settings.results) * settings.result_words;
  let best = scan(lane);
  var token = best.token;
  if (settings.greedy == 0u) { token = draw(best, position, lane); }
  token = min(token, settings.vocab - 1u);
  if (settings.logprobs > 0u) { report(token, best, at, lane); }
  if (lane != 0u) { return; }
  memory[at] = token;
  memory[at + 1u] = select(0u, 1u, best.bad != 0u || !is_finite_key(best.key));
  memory[at + 2u] = position;
  memory[at + 3u] = settings.logprobs;
  remember(token, position);
  tokens[0] = token;
  state[0] = position;
  state[1] = 1u;
}

// Step 1 of sampling: each logit after penalties and bias, and each workgroup's
// best token.
//
//   l ← l / repetition if l > 0, else l · repetition;
//   l ← l − presence − frequency · count        for tokens seen count > 0 times
//   l ← l + bias
//   l ← −∞                                      for tokens that the mask, where there is one, lacks
//
// A workgroup takes `chunk` neighbouring tokens and leaves 4 words: the largest
// key, the lowest token that has it, the largest key of the raw logits, and
// whether a logit was NaN or +Inf. It also clears what the next step adds to.

//#include "sample_settings.wgsl"
//#include "sample_key.wgsl"

@group(0) @binding(0) var<storage, read> settings: Settings;
@group(0) @binding(1) var<storage, read> logits: array<u32>;
@group(0) @binding(2) var<storage, read> memory: array<u32>;
@group(0) @binding(3) var<storage, read> bias: array<u32>;
@group(0) @binding(4) var<storage, read_write> adjusted: array<u32>;
@group(0) @binding(5) var<storage, read_write> scratch: array<u32>;
//#if MASKED
@group(0) @binding(6) var<storage, read> mask: array<u32>;
//#end

//#include "sample_adjust.wgsl"

var<workgroup> best_key: atomic<u32>;
var<workgroup> best_token: atomic<u32>;
var<workgroup> raw_key: atomic<u32>;
var<workgroup> bad: atomic<u32>;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  for (var i = group.x * THREADS + lane; i < PARTIALS; i += settings.groups * THREADS) { scratch[i] = 0u; }
  let first = group.x * settings.chunk;
  let end = min(first + settings.chunk, settings.vocab);
  var key = 0u;
  var token = first;
  var largest_raw = 0u;
  var was_bad = false;
  for (var i = first + lane; i < end; i += THREADS) {
    var raw = logits[i];
    if (is_bad(raw)) {
      was_bad = true;
      raw = NEG_INF;
    }
    let l = adjust(i, raw);
    if (settings.greedy == 0u) { adjusted[i] = l; }
    largest_raw = max(largest_raw, key_of(raw));
    let k = key_of(l);
    if (k > key) {
      key = k;
      token = i;
    }
  }
//#if UNZEROED
  if (lane == 0u) {
    atomicStore(&best_key, 0u);
    atomicStore(&raw_key, 0u);
    atomicStore(&bad, 0u);
  }
  workgroupBarrier();
//#end
  if (lane == 0u) { atomicStore(&best_token, 0xffffffffu); }
  atomicMax(&best_key, key);
  atomicMax(&raw_key, largest_raw);
  if (was_bad) { atomicStore(&bad, 1u); }
  workgroupBarrier();
  if (key == atomicLoad(&best_key)) { atomicMin(&best_token, token); }
  workgroupBarrier();
  if (lane == 0u) {
    let at = PARTIALS + 4u * group.x;
    scratch[at] = atomicLoad(&best_key);
    scratch[at + 1u] = atomicLoad(&best_token);
    scratch[at + 2u] = atomicLoad(&raw_key);
    scratch[at + 3u] = atomicLoad(&bad);
  }
}

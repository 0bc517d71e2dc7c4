// For each row t of logits l, those of tokens first … first + size of a vocabulary
// that comes in tiles, capped as c·tanh(raw / c) where cap c is not 0, and goals
// (token, part) of row base + t, base the replay's first position. Of the tiles so far
//   sums[t] = (m = max l, Σ exp(l − m), Σ part·(log part − l[token]))
// and with the last tile, where the rest is known:
//   losses[base + t] = Σ part·(log part − l[token] + log Σ exp(l))
//   sums[t].x = log Σ exp(l)
// With BACK, after that, a tile's logits become what the losses hand back to the raw
// ones, times weight:
//   l[j] = weight·(exp(l[j]) / Σ exp(l) − part of token j)·(1 − (l[j] / c)²)
//
// One workgroup for each row. weight is the float32 in settings[0]; goals has for each
// row `shares` pairs of a token, or NO_ROW for none, and the bits of its part.

//#include "record/reduce.wgsl"

struct Params { first: u32, size: u32, shares: u32, last: u32, cap: f32 }

const NO_ROW = 0xffffffffu;

@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read> goals: array<u32>;
@group(0) @binding(2) var<storage, read_write> logits: array<f32>;
@group(0) @binding(3) var<storage, read_write> sums: array<f32>;
//#if BACK
@group(0) @binding(4) var<storage, read> settings: array<f32>;
//#else
@group(0) @binding(4) var<storage, read_write> losses: array<f32>;
//#end
@group(0) @binding(5) var<uniform> params: Params;

//#if BACK
var<workgroup> slopes: array<f32, MAX_SHARES>;

fn slope(l: f32) -> f32 {
  if (params.cap == 0.0) { return settings[0]; }
  let part = l / params.cap;
  return settings[0] * (1.0 - part * part);
}
//#else
var<workgroup> tops: array<f32, THREADS>;
//#end

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let row = group.y * params.size;
  let at = state[0] + group.y;
  let own = 3u * group.y;
  let goal = 2u * params.shares * at;
//#if BACK
  for (var i = lane; i < params.shares; i += THREADS) {
    let j = goals[goal + 2u * i] - params.first;
    if (j < params.size) { slopes[i] = bitcast<f32>(goals[goal + 2u * i + 1u]) * slope(logits[row + j]); }
  }
  storageBarrier();
  let all = sums[own];
  for (var j = lane; j < params.size; j += THREADS) {
    let l = logits[row + j];
    logits[row + j] = exp(l - all) * slope(l);
  }
  storageBarrier();
  for (var i = lane; i < params.shares; i += THREADS) {
    let j = goals[goal + 2u * i] - params.first;
    if (j < params.size) { logits[row + j] -= slopes[i]; }
  }
//#else
  var top = -1e30;
  var sum = 0.0;
  for (var j = lane; j < params.size; j += THREADS) {
    let l = logits[row + j];
    if (l > top) {
      sum = sum * exp(top - l) + 1.0;
      top = l;
    } else {
      sum += exp(l - top);
    }
  }
  // Parts add up to 1, all of a token or shares of several.
  var far = 0.0;
  for (var i = lane; i < params.shares; i += THREADS) {
    let j = goals[goal + 2u * i] - params.first;
    if (j < params.size) {
      let part = bitcast<f32>(goals[goal + 2u * i + 1u]);
      far += part * (log(part) - logits[row + j]);
    }
  }
  tops[lane] = top;
  workgroupBarrier();
  var highest = tops[0];
  for (var i = 1u; i < THREADS; i++) { highest = max(highest, tops[i]); }
  sum = workgroup_sum(sum * exp(top - highest), lane);
  far = workgroup_sum(far, lane);
  if (lane == 0u) {
    if (params.first > 0u) {
      let before = sums[own];
      let both = max(before, highest);
      sum = sum * exp(highest - both) + sums[own + 1u] * exp(before - both);
      highest = both;
      far += sums[own + 2u];
    }
    if (params.last == 1u) {
      highest += log(sum);
      losses[at] = far + highest;
    }
    sums[own] = highest;
    sums[own + 1u] = sum;
    sums[own + 2u] = far;
  }
//#end
}

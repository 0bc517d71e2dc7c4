// With l = logits[t], capped as c·tanh(raw / c) where cap c is not 0, and
// target = targets[base + t], base the replay's first position:
//   losses[base + t] = log Σ_j exp(l[j]) − l[target]
// and where BACK the logits become what that hands back to the raw ones, times weight:
//   logits[t, j] = weight·(exp(l[j]) / Σ exp(l) − [j = target])·(1 − (l[j] / c)²)
//
// One workgroup for each row. weight is the float32 in settings[0].

//#include "reduce.wgsl"

struct Params { size: u32, cap: f32 }

@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read> settings: array<f32>;
@group(0) @binding(2) var<storage, read> targets: array<u32>;
@group(0) @binding(3) var<storage, read_write> logits: array<f32>;
@group(0) @binding(4) var<storage, read_write> losses: array<f32>;
@group(0) @binding(5) var<uniform> params: Params;

var<workgroup> tops: array<f32, THREADS>;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let row = group.y * params.size;
  let at = state[0] + group.y;
  let goal = targets[at];
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
  tops[lane] = top;
  workgroupBarrier();
  var highest = tops[0];
  for (var i = 1u; i < THREADS; i++) { highest = max(highest, tops[i]); }
  let all = highest + log(workgroup_sum(sum * exp(top - highest), lane));
  let hit = logits[row + goal];
  // Nobody changes a logit before all have read the target's.
  workgroupBarrier();
  if (lane == 0u) { losses[at] = all - hit; }
//#if BACK
  let weight = settings[0];
  for (var j = lane; j < params.size; j += THREADS) {
    let l = logits[row + j];
    var g = exp(l - all);
    if (j == goal) { g -= 1.0; }
    if (params.cap != 0.0) {
      let part = l / params.cap;
      g *= 1.0 - part * part;
    }
    logits[row + j] = weight * g;
  }
//#end
}

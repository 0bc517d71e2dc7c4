// What the experts' weights hand back to the router's logits. For a token's chosen
// experts k, with hidden[k] what their last product read, grads[k] what it hands back
// to that unweighted, and so grads[k]·hidden[k] the slope along the expert's weight:
//
//   slope[k] = weights[k]·(grads[k]·hidden[k])
//   d_logits[ids[k]] = slope[k] − share[k]·Σ slope
//
// and zeros for all others, share being the softmax over the chosen logits, of which
// weights are the multiples that router.wgsl gave. grads[k] then take their weight.
//
// One workgroup for each token.

//#include "record/reduce.wgsl"

struct Params { experts: u32, size: u32 }

@group(0) @binding(0) var<storage, read> logits: array<f32>;
@group(0) @binding(1) var<storage, read> ids: array<u32>;
@group(0) @binding(2) var<storage, read> weights: array<f32>;
@group(0) @binding(3) var<storage, read> hidden: array<f32>;
@group(0) @binding(4) var<storage, read_write> grads: array<f32>;
@group(0) @binding(5) var<storage, read_write> d_logits: array<f32>;
@group(0) @binding(6) var<uniform> params: Params;

var<workgroup> slopes: array<f32, CHOSEN>;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let base = group.y * params.experts;
  let first = group.y * CHOSEN;
  var total = 0.0;
  for (var k = 0u; k < CHOSEN; k++) {
    let at = (first + k) * params.size;
    let weight = weights[first + k];
    var sum = 0.0;
    for (var j = lane; j < params.size; j += THREADS) {
      let g = grads[at + j];
      sum += g * hidden[at + j];
      grads[at + j] = weight * g;
    }
    let slope = weight * workgroup_sum(sum, lane);
    total += slope;
    if (lane == 0u) { slopes[k] = slope; }
  }
  for (var i = lane; i < params.experts; i += THREADS) { d_logits[base + i] = 0.0; }
  storageBarrier();
  workgroupBarrier();
  for (var k = lane; k < CHOSEN; k += THREADS) {
    let top = logits[base + ids[first]];
    var all = 0.0;
    for (var j = 0u; j < CHOSEN; j++) { all += exp(logits[base + ids[first + j]] - top); }
    let own = ids[first + k];
    d_logits[base + own] = slopes[k] - exp(logits[base + own] - top) / all * total;
  }
}

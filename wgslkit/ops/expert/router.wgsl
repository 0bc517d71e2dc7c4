// Of each token's logits, the CHOSEN largest (of equals, the lower id), largest first:
//   ids[t, k], and weights[t, k] = exp(logit[k]) / Σ over the chosen of exp(logit) · scale[id]
// which is the softmax over all experts, renormalised over the chosen ones.
//
// One workgroup for each token. An expert's place is the count of those before it.

struct Params { experts: u32 }

@group(0) @binding(0) var<storage, read> logits: array<f32>;
@group(0) @binding(1) var<storage, read> scale: array<f32>;
@group(0) @binding(2) var<storage, read_write> ids: array<u32>;
@group(0) @binding(3) var<storage, read_write> weights: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

var<workgroup> chosen_id: array<u32, CHOSEN>;
var<workgroup> chosen_logit: array<f32, CHOSEN>;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let base = group.y * params.experts;
  for (var i = lane; i < params.experts; i += THREADS) {
    let mine = logits[base + i];
    var place = 0u;
    for (var j = 0u; j < params.experts; j++) {
      let other = logits[base + j];
      if (other > mine || (other == mine && j < i)) { place++; }
    }
    if (place < CHOSEN) {
      chosen_id[place] = i;
      chosen_logit[place] = mine;
    }
  }
  workgroupBarrier();
  for (var k = lane; k < CHOSEN; k += THREADS) {
    var sum = 0.0;
    for (var j = 0u; j < CHOSEN; j++) { sum += exp(chosen_logit[j] - chosen_logit[0]); }
    var weight = exp(chosen_logit[k] - chosen_logit[0]) / sum;
//#if SCALED
    weight = weight * scale[chosen_id[k]];
//#end
    ids[group.y * CHOSEN + k] = chosen_id[k];
    weights[group.y * CHOSEN + k] = weight;
  }
}

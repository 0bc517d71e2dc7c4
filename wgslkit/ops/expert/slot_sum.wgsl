// out[t, i] = Σ over slots of weights[t, slot] · x[t, slot, i], in the slots' order;
// without WEIGHTED the plain sum, and where ADD out[t, i] += it.
//
// One thread for each value: x = values, y = tokens.

struct Params { size: u32, slots: u32 }

@group(0) @binding(0) var<storage, read> x: array<f32>;
//#if WEIGHTED
@group(0) @binding(1) var<storage, read> weights: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;
//#else
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;
//#end

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = group.x * THREADS + lane;
  if (i >= params.size) { return; }
  let first = group.y * params.slots;
  var sum = 0.0;
  for (var pair = first; pair < first + params.slots; pair++) {
//#if WEIGHTED
    sum += weights[pair] * x[pair * params.size + i];
//#else
    sum += x[pair * params.size + i];
//#end
  }
  let at = group.y * params.size + i;
//#if ADD
  out[at] += sum;
//#else
  out[at] = sum;
//#end
}

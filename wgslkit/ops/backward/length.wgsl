// out[0] = sqrt(Σ partials[i]) over `size` of them.

//#include "record/reduce.wgsl"

struct Params { size: u32 }

@group(0) @binding(0) var<storage, read> partials: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(THREADS)
fn main(@builtin(local_invocation_index) lane: u32) {
  var sum = 0.0;
  for (var i = lane; i < params.size; i += THREADS) { sum += partials[i]; }
  let total = workgroup_sum(sum, lane);
  if (lane == 0u) { out[0] = sqrt(total); }
}

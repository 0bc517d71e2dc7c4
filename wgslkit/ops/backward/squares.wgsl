// partials[offset + w] = Σ x[i]² over the values i that workgroup w of the grid takes.

//#include "record/reduce.wgsl"

struct Params { size: u32, offset: u32 }

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> partials: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) lane: u32) {
  var sum = 0.0;
  for (var i = group.x * THREADS + lane; i < params.size; i += groups.x * THREADS) { sum += x[i] * x[i]; }
  let total = workgroup_sum(sum, lane);
  if (lane == 0u) { partials[params.offset + group.x] = total; }
}

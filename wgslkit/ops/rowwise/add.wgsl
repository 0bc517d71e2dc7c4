// x[t] ← x[t] + y[t]
//
// One thread for each value: x = values, y = tokens.

struct Params { size: u32 }

@group(0) @binding(0) var<storage, read> y: array<f32>;
@group(0) @binding(1) var<storage, read_write> x: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = group.x * THREADS + lane;
  if (i >= params.size) { return; }
  let at = group.y * params.size + i;
  x[at] += y[at];
}

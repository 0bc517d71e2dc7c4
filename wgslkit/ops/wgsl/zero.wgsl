// x[t, i] = 0
//
// One thread for each value: x = values, y = tokens.

struct Params { size: u32 }

@group(0) @binding(0) var<storage, read_write> x: array<f32>;
@group(0) @binding(1) var<uniform> params: Params;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = group.x * THREADS + lane;
  if (i < params.size) { x[group.y * params.size + i] = 0.0; }
}

// out[t] = rows[t] where marks[t] is not 0; other rows stay as they are.

struct Params { size: u32 }

@group(0) @binding(0) var<storage, read> marks: array<u32>;
@group(0) @binding(1) var<storage, read> rows: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = group.x * THREADS + lane;
  let t = group.y;
  if (i < params.size && marks[t] != 0u) {
    out[t * params.size + i] = rows[t * params.size + i];
  }
}

// out[t] = x[rows[base + t]], 0 where that is no row (2³² − 1), or where BACK
// out[rows[base + t]] = x[t], with base the replay's first position, state[0].
//
// One thread for each value: x = values, y = tokens.

struct Params { size: u32 }

@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read> rows: array<u32>;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = group.x * THREADS + lane;
  if (i >= params.size) { return; }
  let row = rows[state[0] + group.y];
//#if BACK
  out[row * params.size + i] = x[group.y * params.size + i];
//#else
  var v = 0.0;
  if (row != 0xffffffffu) { v = x[row * params.size + i]; }
  out[group.y * params.size + i] = v;
//#end
}

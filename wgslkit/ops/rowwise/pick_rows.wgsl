// out[t] = x[rows[base + t]], 0 where that is no row (2³² − 1), or where BACK
// out[rows[base + t]] = x[t], with base the replay's first position, state[0].
// Of what is picked from, or written to where BACK, the buffer has the rows from
// params.first on, params.count of them; others are left alone where BACK or KEEP, and
// 0 elsewhere.
//
// One thread for each value: x = values, y = tokens.

struct Params { size: u32, first: u32, count: u32 }

@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read> rows: array<u32>;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = group.x * THREADS + lane;
  if (i >= params.size) { return; }
  let row = rows[state[0] + group.y] - params.first; // a row before the first is beyond the count
  let here = row < params.count;
//#if BACK
  if (here) { out[row * params.size + i] = x[group.y * params.size + i]; }
//#else
  if (here) {
    out[group.y * params.size + i] = x[row * params.size + i];
    return;
  }
//#if !KEEP
  out[group.y * params.size + i] = 0.0;
//#end
//#end
}

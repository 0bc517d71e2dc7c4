// x[t] ← scale·x[t] + table[column of t] + table[columns + row of t]
//
// Token t lies in column t mod columns and row t div columns; table holds the
// vectors of all columns, then those of all rows. One thread for each value:
// x = values, y = tokens.

struct Params { size: u32, scale: f32 }

@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read> table: array<f32>;
@group(0) @binding(2) var<storage, read_write> x: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = group.x * THREADS + lane;
  let token = group.y;
  if (i >= params.size || token >= state[1]) { return; }
  let columns = state[2];
  let at = token * params.size + i;
  x[at] = params.scale * x[at] + table[token % columns * params.size + i] +
    table[(columns + token / columns) * params.size + i];
}

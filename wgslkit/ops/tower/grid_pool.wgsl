// out[s] = ((scale / pool²) · Σ x[t] − bias) ⊙ factor, over the pool × pool
// tokens t of square s
//
// Token t lies in column t mod columns and row t div columns; squares are
// counted row by row too. bias and factor are left out where STANDARDISED is
// false. One thread for each value: x = values, y = squares.

struct Params { size: u32, pool: u32, scale: f32 }

@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read> factor: array<f32>;
@group(0) @binding(4) var<storage, read_write> out: array<f32>;
@group(0) @binding(5) var<uniform> params: Params;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = group.x * THREADS + lane;
  let columns = state[2];
  let square = group.y;
  let squares_of_row = columns / params.pool;
  let row = square / squares_of_row * params.pool;
  if (i >= params.size || (row + params.pool) * columns > state[1]) { return; }
  let first = row * columns + square % squares_of_row * params.pool;
  var sum = 0.0;
  for (var a = 0u; a < params.pool; a++) {
    for (var b = 0u; b < params.pool; b++) { sum += x[(first + a * columns + b) * params.size + i]; }
  }
  var v = sum * params.scale / f32(params.pool * params.pool);
//#if STANDARDISED
  v = (v - bias[i]) * factor[i];
//#end
  out[square * params.size + i] = v;
}

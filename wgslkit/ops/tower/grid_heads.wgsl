// Heads of tokens that lie on a grid, token t in column t mod columns and row
// t div columns of it, as attention reads them: for head h of each token
//
//   q[t, h] ← turned(rms(x[t, h]; q_norm)) in f32, padded with zeros to a multiple of 8
//   k[t, h] ← turned(rms(x[t, heads + h]; k_norm)) in f16, in a cache's layout
//   v[t, h] ← rms(x[t, 2·heads + h]) in f16, in a cache's layout
//
// With HALVES, for attention_full_matrix.wgsl, queries are in f16 too, and all three
// [head][token][DIM], with zeros from HEAD_DIM on. What a norm leaves is no larger than
// √HEAD_DIM times its weights: queries are as far from the ends of f16 as keys are.
//
// turned rotates the first half of a head by the token's column and the second
// half by its row, each within itself: pair (j, j + HEAD_DIM/4) of a half by
// rope_turn(position, j). store_kv.wgsl draws a cache's layout.
//
// x and state may hold a part of the tokens, from `first` on; q, k and v hold all.
//
// One thread for each row of HEAD_DIM values. Grid: x = tiles of TOKENS tokens,
// each of which takes ceil(TOKENS · 3 · heads / THREADS) workgroups.

//#include "rope/rope.wgsl"

struct Params { heads: u32, slots: u32, x_offset: u32, x_stride: u32, eps: f32, first: u32 }

@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> q_norm: array<f32>;
@group(0) @binding(3) var<storage, read> k_norm: array<f32>;
@group(0) @binding(4) var<storage, read> rope_table: array<vec2<u32>>;
//#if HALVES
@group(0) @binding(5) var<storage, read_write> q: array<vec4<u32>>;
//#else
@group(0) @binding(5) var<storage, read_write> q: array<vec4<f32>>;
//#end
@group(0) @binding(6) var<storage, read_write> keys: array<vec4<u32>>;
@group(0) @binding(7) var<storage, read_write> values: array<vec4<u32>>;
@group(0) @binding(8) var<uniform> params: Params;

const COLUMNS: u32 = DIM / 8u;
const HALF: u32 = HEAD_DIM / 2u;
const QUARTER: u32 = HEAD_DIM / 4u;

// scaled is element i of the row at `at`, normalised.
fn scaled(at: u32, i: u32, part: u32, inverse: f32) -> f32 {
  let v = x[at + i] * inverse;
  if (part == 0u) { return v * q_norm[i]; }
  if (part == 1u) { return v * k_norm[i]; }
  return v;
}

// element is element i as attention reads it; column and row are the token's.
fn element(at: u32, i: u32, part: u32, inverse: f32, column: u32, row: u32) -> f32 {
  if (i >= HEAD_DIM) { return 0.0; }
  let v = scaled(at, i, part, inverse);
  if (part == 2u) { return v; }
  let within = i % HALF;
  let position = select(row, column, i < HALF);
  if (within < QUARTER) {
    let turn = rope_turn(position, within);
    return v * turn.x - scaled(at, i + QUARTER, part, inverse) * turn.y;
  }
  let turn = rope_turn(position, within - QUARTER);
  return v * turn.x + scaled(at, i - QUARTER, part, inverse) * turn.y;
}

fn four_elements(at: u32, i: u32, part: u32, inverse: f32, column: u32, row: u32) -> vec4<f32> {
  var v = vec4<f32>();
  for (var n = 0u; n < 4u; n++) { v[n] = element(at, i + n, part, inverse, column, row); }
  return v;
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let rows = 3u * params.heads;
  let groups = (TOKENS * rows + THREADS - 1u) / THREADS;
  let item = group.x % groups * THREADS + lane;
  let row_of_x = group.x / groups * TOKENS + item / rows;
  if (item >= TOKENS * rows || row_of_x >= state[1]) { return; }
  let token = params.first + row_of_x;
  let part = item % rows / params.heads;
  let head = item % params.heads;
  let at = params.x_offset + row_of_x * params.x_stride + item % rows * HEAD_DIM;

  var squares = 0.0;
  for (var i = 0u; i < HEAD_DIM; i++) { squares += x[at + i] * x[at + i]; }
  let inverse = 1.0 / sqrt(squares / f32(HEAD_DIM) + params.eps);
  let column = token % state[2];
  let row = token / state[2];
  for (var c = 0u; c < COLUMNS; c++) {
    let low = four_elements(at, 8u * c, part, inverse, column, row);
    let high = four_elements(at, 8u * c + 4u, part, inverse, column, row);
    let halves = vec4<u32>(pack2x16float(low.xy), pack2x16float(low.zw), pack2x16float(high.xy),
      pack2x16float(high.zw));
    let to = (head * params.slots + token) * COLUMNS + c;
    switch part {
//#if HALVES
      case 0u: { q[to] = halves; }
      case 1u: { keys[to] = halves; }
//#else
      case 0u: {
        let four = 2u * ((token * params.heads + head) * COLUMNS + c);
        q[four] = low;
        q[four + 1u] = high;
      }
      case 1u: { keys[(head * COLUMNS + c) * params.slots + token] = halves; }
//#end
      default: { values[to] = halves; }
    }
  }
}

// matmul_large.wgsl on subgroup matrices, for any type of weights: numbers are
// float16, and their sums float32,
//
//   sums[z][t, r] = Σ_c half(W[r, c]) · halves[t, c]      c in the columns of split z
//
// with what matmul_halves.wgsl left of the inputs. matmul_sum.wgsl adds up the
// splits and ends the product.
//
// A workgroup of 4 subgroups makes a tile of TILE rows × TILE tokens, 32 columns of
// it at a time, which it puts into memory, [rows][columns] and [tokens][columns]; a
// subgroup makes a quarter of it, of SIDE × SIDE matrices. The columns are 32 neighbours for plain
// numbers and two spans of a unit for others (unit.wgsl): the sum takes them in any
// order. The next ones are under way while these are multiplied.
// Where a tile has more rows than there are threads, these read it in TURNS.
//
// Rows and tokens beyond the last get sums too, in the room that `sums` has for
// whole tiles; what these are is not used.
//
// Grid: x = tiles of rows, y = tiles of tokens, z = splits.

//#enable f16
//#enable chromium_experimental_subgroup_matrix

struct Params {
  rows: u32,     // of the tile of W
  units: u32,    // in a row
  steps: u32,    // of 32 columns
  row_size: u32,
  plane1: u32,
  plane2: u32,
  splits: u32,
  capacity: u32, // tokens that sums has room for, whole tiles
//#if CODEBOOK
  codebook: array<vec4<u32>, CODEBOOK>,
//#end
}

@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read> weights: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> halves: array<vec4<u32>>; // eight to a vector, 32·steps to a token
@group(0) @binding(3) var<storage, read_write> sums: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

//#include "weights/unit.wgsl"

alias Left = subgroup_matrix_left<f16, MATRIX_K, MATRIX>;
alias Right = subgroup_matrix_right<f16, MATRIX, MATRIX_K>;
alias Result = subgroup_matrix_result<f32, MATRIX, MATRIX>;

const TILE: u32 = 2u * SIDE * MATRIX;
const THREADS: u32 = 4u * SUBGROUP;
const PITCH: u32 = 10u; // fours from row to row in memory: two more keep rows off each other's banks
const HALF: u32 = TILE / 2u * PITCH;

// Halves, of each of which a subgroup reads one, at constant places: Dawn puts a branch
// around every read of a matrix of which it cannot tell that it is within the array.
var<workgroup> tokens_tile: array<array<vec4<f16>, HALF>, 2>;
var<workgroup> rows_tile: array<array<vec4<f16>, HALF>, 2>;

// Held is what a thread reads of 32 columns in a turn: eight inputs each of four
// tokens, and of the weights as much of four rows, or a row's unit.
struct Held {
  x0: vec4<u32>, x1: vec4<u32>, x2: vec4<u32>, x3: vec4<u32>,
//#if SPANS == 1
  w0: Eight, w1: Eight, w2: Eight, w3: Eight,
//#else
  w: Packed,
//#end
}

// Piece `lane`, of TILE, is the eight columns lane % 4 of rows lane / 4, and TILE / 4,
// TILE / 2 … further.

// eight_column is where the eight columns of a piece begin in halves.
fn eight_column(step: u32, lane: u32) -> u32 {
//#if SPANS == 1
  return step * 4u + lane % 4u;
//#else
//#if SPANS == 2
  return span_column(step, lane % 4u / 2u) / 8u + lane % 2u;
//#else
  return span_column(step / 2u, step % 2u * 2u + lane % 4u / 2u) / 8u + lane % 2u;
//#end
//#end
}

fn inputs_of(token: u32, column: u32) -> vec4<u32> {
  return halves[min(token, state[1] - 1u) * params.steps * 4u + column];
}

// row_at is where a row begins.
fn row_at(row: u32) -> u32 { return min(row, params.rows - 1u) * params.row_size; }

//#if SPANS == 1
//#if QUANT == f32
struct Eight { a: vec4<u32>, b: vec4<u32> }

fn eight_weights(row: u32, eight: u32) -> Eight {
  return Eight(weights[row + 2u * eight], weights[row + 2u * eight + 1u]);
}
//#else
struct Eight { a: vec4<u32> }

fn eight_weights(row: u32, eight: u32) -> Eight { return Eight(weights[row + eight]); }
//#end

// put_weights writes eight weights of a row of a half; to counts fours of that.
fn put_weights(half: u32, to: u32, v: Eight) {
//#if QUANT == f32
  rows_tile[half][to] = vec4<f16>(bitcast<vec4<f32>>(v.a));
  rows_tile[half][to + 1u] = vec4<f16>(bitcast<vec4<f32>>(v.b));
//#end
//#if QUANT == bf16
  rows_tile[half][to] = vec4<f16>(upper(v.a.x, v.a.y));
  rows_tile[half][to + 1u] = vec4<f16>(upper(v.a.z, v.a.w));
//#end
//#if QUANT == f16
  rows_tile[half][to] = bitcast<vec4<f16>>(v.a.xy);
  rows_tile[half][to + 1u] = bitcast<vec4<f16>>(v.a.zw);
//#end
}
//#else
fn put_span(half: u32, to: u32, q: mat4x4<f32>, scale: f32, low: f32) {
  let l = vec4<f32>(low);
  rows_tile[half][to] = vec4<f16>(q[0] * scale + l);
  rows_tile[half][to + 1u] = vec4<f16>(q[1] * scale + l);
  rows_tile[half][to + 2u] = vec4<f16>(q[2] * scale + l);
  rows_tile[half][to + 3u] = vec4<f16>(q[3] * scale + l);
}
//#end

fn put_inputs(half: u32, to: u32, v: vec4<u32>) {
  tokens_tile[half][to] = bitcast<vec4<f16>>(v.xy);
  tokens_tile[half][to + 1u] = bitcast<vec4<f16>>(v.zw);
}

fn unit_of(step: u32) -> u32 {
//#if SPANS == 4
  return step / 2u;
//#else
  return step;
//#end
}

// hold reads what a lane has of 32 columns.
fn hold(first_row: u32, first_token: u32, lane: u32, step: u32) -> Held {
  let column = eight_column(step, lane);
  let token = first_token + lane / 4u;
  let row = first_row + lane / 4u;
//#if SPANS == 1
  // The last 32 columns may be 16, where the inputs are 0.
  let eight = min(column, params.units * 2u - 1u);
//#end
  return Held(
    inputs_of(token, column), inputs_of(token + TILE / 4u, column),
    inputs_of(token + TILE / 2u, column), inputs_of(token + TILE / 4u * 3u, column),
//#if SPANS == 1
    eight_weights(row_at(row), eight), eight_weights(row_at(row + TILE / 4u), eight),
    eight_weights(row_at(row + TILE / 2u), eight), eight_weights(row_at(row + TILE / 4u * 3u), eight),
//#else
    packed(row_at(first_row + lane), unit_of(step)),
//#end
  );
}

// put writes it into memory.
fn put(v: Held, lane: u32, step: u32) {
  let to = lane / 4u * PITCH + lane % 4u * 2u;
  put_inputs(0u, to, v.x0);
  put_inputs(0u, to + TILE / 4u * PITCH, v.x1);
  put_inputs(1u, to, v.x2);
  put_inputs(1u, to + TILE / 4u * PITCH, v.x3);
//#if SPANS == 1
  put_weights(0u, to, v.w0);
  put_weights(0u, to + TILE / 4u * PITCH, v.w1);
  put_weights(1u, to, v.w2);
  put_weights(1u, to + TILE / 4u * PITCH, v.w3);
//#else
  let w = unpacked(v.w, unit_of(step));
  let half = lane / (TILE / 2u);
  let row = lane % (TILE / 2u) * PITCH;
//#if SPANS == 4
  if (step % 2u == 1u) {
    put_span(half, row, w.q[2], w.scale.z, w.low.z);
    put_span(half, row + 4u, w.q[3], w.scale.w, w.low.w);
    return;
  }
//#end
  put_span(half, row, w.q[0], w.scale.x, w.low.x);
  put_span(half, row + 4u, w.q[1], w.scale.y, w.low.y);
//#end
}

@compute @workgroup_size(THREADS)
@diagnostic(off, chromium.subgroup_matrix_uniformity)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let first_row = workgroup.x * TILE;
  let first_token = workgroup.y * TILE;
  if (first_token >= state[1]) { return; }
//#if SHARED_CODEBOOK
  share_codebook(thread, THREADS);
//#end
  let begin = workgroup.z * params.steps / params.splits;
  let end = (workgroup.z + 1u) * params.steps / params.splits;
  let subgroup = thread / SUBGROUP;
  let tokens_half = subgroup % 2u;
  let rows_half = subgroup / 2u;

//#repeat T SIDE
//#repeat R SIDE
  var c${T}${R}: Result;
//#end
//#end

//#if TURNS == 1
  var next = hold(first_row, first_token, thread, begin);
//#else
  var next: array<Held, TURNS>;
  for (var turn = 0u; turn < TURNS; turn++) {
    next[turn] = hold(first_row, first_token, thread + turn * THREADS, begin);
  }
//#end
  for (var step = begin; step < end; step++) {
    workgroupBarrier();
//#if TURNS == 1
    put(next, thread, step);
//#else
    for (var turn = 0u; turn < TURNS; turn++) { put(next[turn], thread + turn * THREADS, step); }
//#end
    workgroupBarrier();
    let ahead = min(step + 1u, params.steps - 1u);
//#if TURNS == 1
    next = hold(first_row, first_token, thread, ahead);
//#else
    for (var turn = 0u; turn < TURNS; turn++) {
      next[turn] = hold(first_row, first_token, thread + turn * THREADS, ahead);
    }
//#end
//#repeat K COLUMN_STEPS
//#repeat T SIDE
    let a${T}_${K} = subgroupMatrixLoad<Left, row_major>(&tokens_tile[tokens_half],
      ${T}u * MATRIX * PITCH + ${K}u * MATRIX_K / 4u, PITCH);
//#end
//#repeat R SIDE
    let b${R}_${K} = subgroupMatrixLoad<Right, col_major>(&rows_tile[rows_half],
      ${R}u * MATRIX * PITCH + ${K}u * MATRIX_K / 4u, PITCH);
//#repeat T SIDE
    c${T}${R} = subgroupMatrixMultiplyAccumulate(a${T}_${K}, b${R}_${K}, c${T}${R});
//#end
//#end
//#end
  }

  let pitch = (params.rows + TILE - 1u) / TILE * TILE;
  let to = (workgroup.z * params.capacity + first_token + tokens_half * (TILE / 2u)) * pitch + first_row +
    rows_half * (TILE / 2u);
//#repeat T SIDE
//#repeat R SIDE
  subgroupMatrixStore<row_major>(&sums, to + ${T}u * MATRIX * pitch + ${R}u * MATRIX, c${T}${R}, pitch);
//#end
//#end
}

// out[t, r] = W[r]·x[t], or with GATED act(W[2r]·x) · (W[2r+1]·x), then what
// activation.wgsl names and `mul`.
//
// A workgroup of 8 × 8 threads makes a tile of 64 rows × 64 tokens, a thread
// 8 × 8 of it. For each unit, thread i decodes row i; span by span the
// weights and inputs go to memory, [column][row] and [column][token]. Where
// LOW_RANK, the columns of low_rank.wgsl follow.

//#include "params.wgsl"

@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read> weights: array<vec4<u32>>;
//#if ALIGNED
@group(0) @binding(2) var<storage, read> x: array<Four>;
//#else
@group(0) @binding(2) var<storage, read> x: array<f32>;
//#end
@group(0) @binding(3) var<storage, read> mul: array<f32>;
@group(0) @binding(4) var<storage, read_write> out: array<f32>;

//#include "tile_rows.wgsl"
//#include "many_bindings.wgsl"
//#include "weights/unit.wgsl"
//#include "finish.wgsl"

var<workgroup> tokens_at: array<Four, 272>; // [16 columns][64 tokens + 4 that keep threads from colliding]

// four_inputs is four columns of a token, with zeros beyond the row.
fn four_inputs(t: u32, column: u32) -> vec4<f32> {
  let at = t * params.x_stride + params.x_offset + column;
//#if ALIGNED
  return input_of(x[at / 4u]);
//#else
  var v = vec4<f32>();
  if (column < params.cols) { v.x = bounded_input(vec4<f32>(x[at])).x; }
  if (column + 1u < params.cols) { v.y = bounded_input(vec4<f32>(x[at + 1u])).y; }
  if (column + 2u < params.cols) { v.z = bounded_input(vec4<f32>(x[at + 2u])).z; }
  if (column + 3u < params.cols) { v.w = bounded_input(vec4<f32>(x[at + 3u])).w; }
  return v;
//#end
}

// store_tokens puts 16 columns of 64 tokens into memory: four threads to a token.
fn store_tokens(first_token: u32, first_column: u32, thread: u32) {
  let k = thread % 4u * 4u;
  for (var i = thread / 4u; i < 64u; i += 16u) {
    // What tokens beyond the last get is not used.
    store_four(i, k, four_inputs(min(first_token + i, state[1] - 1u), first_column + k));
  }
}

// store_four puts columns k … k+3 of the tile's token i into memory.
fn store_four(i: u32, k: u32, four: vec4<f32>) {
  let v = Four(four);
  let to = k * 17u + i / 4u;
  tokens_at[to][i % 4u] = v.x; tokens_at[to + 17u][i % 4u] = v.y;
  tokens_at[to + 34u][i % 4u] = v.z; tokens_at[to + 51u][i % 4u] = v.w;
}

// write4 ends rows r … r+3 of token t.
fn write4(t: u32, r: u32, v: vec4<f32>) {
  let row = params.first + r;
  if (GATED) {
    if (r < params.rows) { finish(t, row / 2u, activate(params.act, bounded(row, v.x)) * bounded(row + 1u, v.y)); }
    if (r + 2u < params.rows) {
      finish(t, row / 2u + 1u, activate(params.act, bounded(row + 2u, v.z)) * bounded(row + 3u, v.w));
    }
    return;
  }
  if (r < params.rows) { finish(t, row, activate(params.act, bounded(row, v.x))); }
  if (r + 1u < params.rows) { finish(t, row + 1u, activate(params.act, bounded(row + 1u, v.y))); }
  if (r + 2u < params.rows) { finish(t, row + 2u, activate(params.act, bounded(row + 2u, v.z))); }
  if (r + 3u < params.rows) { finish(t, row + 3u, activate(params.act, bounded(row + 3u, v.w))); }
}

// multiply_stored adds the products of the 16 columns in memory.
fn multiply_stored(thread: u32) {
  let tx = thread % 8u;
  let ty = thread / 8u;
  for (var k = 0u; k < 16u; k++) {
    add(rows_at[k * 16u + 2u * ty], rows_at[k * 16u + 2u * ty + 1u], tokens_at[k * 17u + 2u * tx],
      tokens_at[k * 17u + 2u * tx + 1u]);
  }
}

// multiply_span adds the products of a span; w, scale and low are of this thread's row.
fn multiply_span(w: mat4x4<f32>, scale: f32, low: f32, first_token: u32, column: u32, thread: u32) {
  workgroupBarrier();
  store_rows(w, scale, low, thread);
  store_tokens(first_token, column, thread);
  workgroupBarrier();
  multiply_stored(thread);
}

//#if LOW_RANK
// multiply_low adds what low_rank.wgsl says, 16 columns of u at a time; r is this
// thread's row of the matrix.
fn multiply_low(r: u32, first_token: u32, thread: u32) {
  let row = low_row(r);
  for (var k = 0u; k < params.low.stride; k += 4u) {
    workgroupBarrier();
    store_rows(low_sixteen(row, k), 1.0, 0.0, thread);
    for (var i = thread / 4u; i < 64u; i += 16u) {
      store_four(i, thread % 4u * 4u, low_inputs(min(first_token + i, state[1] - 1u), k + thread % 4u));
    }
    workgroupBarrier();
    multiply_stored(thread);
  }
}
//#end

// write8 ends rows r … r+7 of token t.
fn write8(t: u32, r: u32, a: vec4<f32>, b: vec4<f32>) {
  if (t >= state[1]) { return; }
  write4(t, r, unscaled(t, a));
  write4(t, r + 4u, unscaled(t, b));
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
//#if SHARED_CODEBOOK
  share_codebook(thread, 64u);
//#end
  let first_token = workgroup.y * 64u;
  let row = min(workgroup.x * 64u + thread, params.rows - 1u) * params.row_size;
  for (var unit = 0u; unit < params.units; unit++) {
    let w = decode(row, unit);
    multiply_span(w.q[0], w.scale.x, w.low.x, first_token, span_column(unit, 0u), thread);
//#if SPANS != 1
    multiply_span(w.q[1], w.scale.y, w.low.y, first_token, span_column(unit, 1u), thread);
//#end
//#if SPANS == 4
    multiply_span(w.q[2], w.scale.z, w.low.z, first_token, span_column(unit, 2u), thread);
    multiply_span(w.q[3], w.scale.w, w.low.w, first_token, span_column(unit, 3u), thread);
//#end
  }
//#if LOW_RANK
  multiply_low(params.first + min(workgroup.x * 64u + thread, params.rows - 1u), first_token, thread);
//#end
  let t = first_token + thread % 8u * 8u;
  let r = workgroup.x * 64u + thread / 8u * 8u;
  write8(t, r, acc[0], acc[1]);
  write8(t + 1u, r, acc[2], acc[3]);
  write8(t + 2u, r, acc[4], acc[5]);
  write8(t + 3u, r, acc[6], acc[7]);
  write8(t + 4u, r, acc[8], acc[9]);
  write8(t + 5u, r, acc[10], acc[11]);
  write8(t + 6u, r, acc[12], acc[13]);
  write8(t + 7u, r, acc[14], acc[15]);
}

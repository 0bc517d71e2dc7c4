// Products of many tokens with the rows of the experts chosen for each, in tiles of
// pairs that one expert was chosen for (expert_groups.wgsl). For each pair p = t·slots + slot
// of expert e:
//
//   out[p, r] = act(W[e·rows + r]·h), or with GATED act(W[e·rows + 2r]·h) · (W[e·rows + 2r+1]·h)
//
// h is row t of x, or where PER_SLOT row p. A tile of W may hold a part of the
// experts: a row that it lacks is left alone.
//
// A workgroup of 8 × 8 threads makes a tile of 64 rows × 64 pairs, as matmul.wgsl
// does: a thread 8 rows by the pairs 4x … 4x+3 and 32 more. Where a tile has no more
// than 32 pairs, the second half is left out.
//
// Grid: x = tiles of an expert's rows, y = tiles of pairs, as many as there can be.

//#include "expert_rows.wgsl"
//#include "product/tile_rows.wgsl"

var<workgroup> tokens_at: array<vec4<f32>, 272>; // [16 columns][64 pairs + 4 that keep threads from colliding]

// four_inputs is four columns of the row of x that begins at `at`, with zeros beyond it.
fn four_inputs(at: u32, column: u32) -> vec4<f32> {
//#if ALIGNED
  return x[(at + column) / 4u];
//#else
  var v = vec4<f32>();
  if (column < params.cols) { v.x = x[at + column]; }
  if (column + 1u < params.cols) { v.y = x[at + column + 1u]; }
  if (column + 2u < params.cols) { v.z = x[at + column + 2u]; }
  if (column + 3u < params.cols) { v.w = x[at + column + 3u]; }
  return v;
//#end
}

// store_token puts four columns of a pair into memory, from column k on.
fn store_token(v: vec4<f32>, k: u32, pair: u32) {
  let to = k * 17u + pair / 4u;
  let c = pair % 4u;
  tokens_at[to][c] = v.x; tokens_at[to + 17u][c] = v.y;
  tokens_at[to + 34u][c] = v.z; tokens_at[to + 51u][c] = v.w;
}

// multiply_span adds the products of a span; w, scale and low are of this thread's row,
// inputs are where four pairs' inputs begin, of which it stores four columns each.
fn multiply_span(w: mat4x4<f32>, scale: f32, low: f32, inputs: vec4<u32>, column: u32, narrow: bool, thread: u32) {
  let k = thread % 4u * 4u;
  let pair = thread / 4u;
  workgroupBarrier();
  store_rows(w, scale, low, thread);
  store_token(four_inputs(inputs.x, column + k), k, pair);
  store_token(four_inputs(inputs.y, column + k), k, pair + 16u);
  if (!narrow) {
    store_token(four_inputs(inputs.z, column + k), k, pair + 32u);
    store_token(four_inputs(inputs.w, column + k), k, pair + 48u);
  }
  workgroupBarrier();
  let tx = thread % 8u;
  let ty = thread / 8u;
  if (narrow) {
    for (var i = 0u; i < 16u; i++) {
      add_four(rows_at[i * 16u + 2u * ty], rows_at[i * 16u + 2u * ty + 1u], tokens_at[i * 17u + tx]);
    }
    return;
  }
  for (var i = 0u; i < 16u; i++) {
    add(rows_at[i * 16u + 2u * ty], rows_at[i * 16u + 2u * ty + 1u], tokens_at[i * 17u + tx],
      tokens_at[i * 17u + tx + 8u]);
  }
}

// write4 ends rows r … r+3 of the expert for a pair.
fn write4(pair: u32, r: u32, origin: u32, v: vec4<f32>) {
//#if GATED
  if (here(r, origin)) { out[(pair * params.rows + r) / 2u] = activate(params.act, v.x) * v.y; }
  if (here(r + 2u, origin)) { out[(pair * params.rows + r) / 2u + 1u] = activate(params.act, v.z) * v.w; }
//#else
  let at = pair * params.rows + r;
  if (here(r, origin)) { out[at] = activate(params.act, v.x); }
  if (here(r + 1u, origin)) { out[at + 1u] = activate(params.act, v.y); }
  if (here(r + 2u, origin)) { out[at + 2u] = activate(params.act, v.z); }
  if (here(r + 3u, origin)) { out[at + 3u] = activate(params.act, v.w); }
//#end
}

// write8 ends rows r … r+7 for the tile's i-th pair.
fn write8(tile: vec4<u32>, i: u32, r: u32, origin: u32, a: vec4<f32>, b: vec4<f32>) {
  if (i >= tile.z) { return; }
  let pair = pairs[tile.y + i];
  write4(pair, r, origin, a);
  write4(pair, r + 4u, origin, b);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let tile = tiles[workgroup.y];
  let base = workgroup.x * 64u;
  if (absent(tile, base, 64u)) { return; }
//#if SHARED_CODEBOOK
  share_codebook(thread, 64u);
//#end
  let origin = tile.x * params.rows - params.first;
  let row = row_in_tile(tile, base + thread) * params.row_size;
  let pair = thread / 4u;
  let inputs = vec4<u32>(input_at(tile, pair), input_at(tile, pair + 16u), input_at(tile, pair + 32u),
    input_at(tile, pair + 48u));
  let narrow = tile.z <= 32u;
  for (var unit = 0u; unit < params.units; unit++) {
    let w = decode(row, unit);
    multiply_span(w.q[0], w.scale.x, w.low.x, inputs, span_column(unit, 0u), narrow, thread);
//#if SPANS != 1
    multiply_span(w.q[1], w.scale.y, w.low.y, inputs, span_column(unit, 1u), narrow, thread);
//#end
//#if SPANS == 4
    multiply_span(w.q[2], w.scale.z, w.low.z, inputs, span_column(unit, 2u), narrow, thread);
    multiply_span(w.q[3], w.scale.w, w.low.w, inputs, span_column(unit, 3u), narrow, thread);
//#end
  }
  let i = thread % 8u * 4u;
  let r = base + thread / 8u * 8u;
  write8(tile, i, r, origin, acc[0], acc[1]);
  write8(tile, i + 1u, r, origin, acc[2], acc[3]);
  write8(tile, i + 2u, r, origin, acc[4], acc[5]);
  write8(tile, i + 3u, r, origin, acc[6], acc[7]);
  write8(tile, i + 32u, r, origin, acc[8], acc[9]);
  write8(tile, i + 33u, r, origin, acc[10], acc[11]);
  write8(tile, i + 34u, r, origin, acc[12], acc[13]);
  write8(tile, i + 35u, r, origin, acc[14], acc[15]);
}

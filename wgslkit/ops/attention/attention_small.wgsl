// Attention of each token by itself, q at its position p (place.wgsl), over keys j of [first, p]:
//   s[j] = scale · rope(rms(q; q_norm)) · k[j],  with a softcap c: c·tanh(s / c)
//   out[t] = Σ_j exp(s[j] − m)·v[j] / l,  m = max s,  l = Σ_j exp(s[j] − m)
//
// For processors on which barriers, workgroup memory and compiling cost more
// than the work: one kernel for every size of a head, and for prompts too.
// store_kv.wgsl draws the cache's layout.
//
// A workgroup is a subgroup of four threads. It takes HEADS query heads of one
// kv head, and KEYS keys at a time:
//   scores, values: thread = column of each BLOCK of four columns
//   softmax: thread = head
// Each thread prepares its columns of the queries and keeps them in `queries`.
// What tiles have summed so far stands in out.
//
// Grid: x = chunks of query heads, chunks_per_kv for each kv head; y = tokens.

//#enable subgroups
//#include "rope/rope.wgsl"
//#include "record/halves.wgsl"
//#include "kvcache/cell.wgsl"
//#include "kvcache/place.wgsl"

struct Params {
  heads: u32, kv_heads: u32, first_kv_head: u32, chunks_per_kv: u32,
  slots: u32, window: u32, head_dim: u32, rotated: u32,
  q_offset: u32, q_stride: u32, normed: u32,
  eps: f32, scale: f32, softcap: f32,
}

@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read> q: array<f32>;
@group(0) @binding(2) var<storage, read> q_norm: array<f32>;
@group(0) @binding(3) var<storage, read> rope_table: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read> keys: array<Cell>;
@group(0) @binding(5) var<storage, read> values: array<Cell>;
@group(0) @binding(6) var<storage, read_write> queries: array<f32>;
@group(0) @binding(7) var<storage, read_write> out: array<f32>;
@group(0) @binding(8) var<uniform> params: Params;

const THREADS: u32 = 4u;
const BLOCK: u32 = 4u; // columns
const HEADS: u32 = 4u;
const KEYS: u32 = 128u;
const NOTHING: f32 = -1e30;

var<private> scores: array<f32, KEYS>;       // of this thread's head
var<private> inverses: array<f32, HEADS>;    // scale / sqrt(mean square + eps)
var<private> cells: array<vec4<f32>, 8>;     // of a column: two for each head
// Where each head begins in q, queries and out. What is found here is not found
// in loops: a division costs as much as 50 additions.
var<private> q_at: array<u32, HEADS>;
var<private> queries_at: array<u32, HEADS>;
var<private> out_at: array<u32, HEADS>;

// find_heads finds the workgroup's query heads; where there are fewer, the last again.
fn find_heads(token: u32, group: u32, blocks: u32) {
  let ratio = params.heads / params.kv_heads;
  let kv_head = group / params.chunks_per_kv;
  let chunk = (group - kv_head * params.chunks_per_kv) * HEADS;
  for (var h = 0u; h < HEADS; h++) {
    let head = (params.first_kv_head + kv_head) * ratio + min(chunk + h, ratio - 1u);
    q_at[h] = params.q_offset + token * params.q_stride + head * params.head_dim;
    queries_at[h] = (token * params.heads + head) * blocks * 32u;
    out_at[h] = (token * params.heads + head) * params.head_dim;
  }
}

fn query_value(at: u32, i: u32) -> f32 {
  let v = q[at + i];
  return v * select(1.0, q_norm[min(i, params.head_dim - 1u)], params.normed != 0u);
}

// prepare_queries leaves this thread's elements of the queries, of which there
// are four threads' in turns of eight.
fn prepare_queries(position: u32, blocks: u32, lane: u32) {
  for (var h = 0u; h < HEADS; h++) {
    let at = q_at[h];
    var squares = 0.0;
    for (var i = lane; i < params.head_dim; i += THREADS) {
      let v = q[at + i];
      squares += v * v;
    }
    let mean = subgroupAdd(squares) / f32(params.head_dim);
    inverses[h] = params.scale * select(1.0, 1.0 / sqrt(mean + params.eps), params.normed != 0u);
  }
  for (var block = 0u; block < blocks; block++) {
    for (var j = 0u; j < 8u; j++) { prepare_element((block * BLOCK + lane) * 8u + j, position); }
  }
}

// prepare_element is element i of each head's query.
fn prepare_element(i: u32, position: u32) {
  let half = params.rotated / 2u;
  let turns = i < params.rotated;
  let pair = select(i, i - half, i >= half);
  var turn = vec2<f32>(1.0, 0.0);
  if (turns) { turn = rope_turn(position, pair); }
  let mate = select(i, select(pair, i + half, i < half), turns);
  let sine = select(turn.y, -turn.y, i < half);
  for (var h = 0u; h < HEADS; h++) {
    var v = 0.0;
    if (i < params.head_dim) {
      v = (query_value(q_at[h], i) * turn.x + query_value(q_at[h], mate) * sine) * inverses[h];
    }
    queries[queries_at[h] + i] = v;
  }
}

// four_halves is those of two words.
fn four_halves(a: u32, b: u32) -> vec4<f32> {
  return vec4<f32>(low_half(i32(a)), high_half(i32(a)), low_half(i32(b)), high_half(i32(b)));
}

// load_key and load_value read a cell at `at`, whose scale's is at `scales`.
fn load_key(at: u32, scales: u32) -> Loaded {
//#if CACHE == q8
  return Loaded(keys[at], keys[scales]);
//#else
  return keys[at];
//#end
}

fn load_value(at: u32, scales: u32) -> Loaded {
//#if CACHE == q8
  return Loaded(values[at], values[scales]);
//#else
  return values[at];
//#end
}

// add_scores is q·k over a block of columns, of one tile's keys, whose column
// here begins at `at`, and the block's scales at `scales`.
fn add_scores(at: u32, scales: u32, column: u32, slot: u32, count: u32, lane: u32) {
  for (var k = 0u; k < count; k++) {
    var s = slot + k;
    s = min(s, s - params.slots); // which wraps where s < slots
    let key = unpacked(load_key(at + s, scales + s), column);
    let a = key.low;
    let b = key.high;
    let sums = subgroupAdd(vec4<f32>(
      dot(cells[0], a) + dot(cells[1], b), dot(cells[2], a) + dot(cells[3], b),
      dot(cells[4], a) + dot(cells[5], b), dot(cells[6], a) + dot(cells[7], b)));
    scores[k] += sums[lane];
  }
}

// add_values is the weighted sum of a block's columns of values; slots lie cells_apart.
fn add_values(at: u32, scales: u32, column: u32, slot: u32, count: u32, cells_apart: u32) {
  for (var k = 0u; k < count; k++) {
    var s = slot + k;
    s = min(s, s - params.slots);
    let value = unpacked(load_value(at + s * cells_apart, scales + s * cells_apart), column);
    let a = value.low;
    let b = value.high;
    let weight = scores[k];
    let w0 = subgroupBroadcast(weight, 0u);
    let w1 = subgroupBroadcast(weight, 1u);
    let w2 = subgroupBroadcast(weight, 2u);
    let w3 = subgroupBroadcast(weight, 3u);
    cells[0] += w0 * a;
    cells[1] += w0 * b;
    cells[2] += w1 * a;
    cells[3] += w1 * b;
    cells[4] += w2 * a;
    cells[5] += w2 * b;
    cells[6] += w3 * a;
    cells[7] += w3 * b;
  }
}

// load_sums takes up what stands in out of a head's column. What lies beyond the
// head is not stored again.
fn load_sums(h: u32, at: u32, fade: f32) {
  cells[2u * h] = vec4<f32>(out[at], out[at + 1u], out[at + 2u], out[at + 3u]) * fade;
  cells[2u * h + 1u] = vec4<f32>(out[at + 4u], out[at + 5u], out[at + 6u], out[at + 7u]) * fade;
}

// store_sums leaves the first of a column's elements, up to `left` of them.
fn store_sums(h: u32, at: u32, left: u32, share: f32) {
  let a = cells[2u * h] * share;
  let b = cells[2u * h + 1u] * share;
  // A head has an even number of elements.
  if (left > 1u) {
    out[at] = a.x;
    out[at + 1u] = a.y;
  }
  if (left > 3u) {
    out[at + 2u] = a.z;
    out[at + 3u] = a.w;
  }
  if (left > 5u) {
    out[at + 4u] = b.x;
    out[at + 5u] = b.y;
  }
  if (left > 7u) {
    out[at + 6u] = b.z;
    out[at + 7u] = b.w;
  }
}

fn all_heads(v: f32) -> vec4<f32> {
  return vec4<f32>(subgroupBroadcast(v, 0u), subgroupBroadcast(v, 1u), subgroupBroadcast(v, 2u),
    subgroupBroadcast(v, 3u));
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let token = group.y;
  if (token >= state[1]) { return; }
  let position = position_of(token);
  let columns = (params.head_dim + 7u) / 8u;
  let blocks = (columns + BLOCK - 1u) / BLOCK;
  let row_cells = columns + SCALED * ((params.head_dim + 127u) / 128u);
  let kv_head = cache_head(group.x / params.chunks_per_kv, token);
  find_heads(token, group.x, blocks);
  prepare_queries(position, blocks, lane);

  var first = 0u;
  if (params.window > 0u && position + 1u > params.window) { first = position + 1u - params.window; }
  var top = NOTHING; // of this thread's head
  var total = 0.0;
  for (var tile = first; tile <= position; tile += KEYS) {
    let count = min(KEYS, position + 1u - tile);
    let slot = tile % params.slots;
    for (var k = 0u; k < count; k++) { scores[k] = 0.0; }
    for (var block = 0u; block < blocks; block++) {
      let column = block * BLOCK + lane;
      for (var h = 0u; h < HEADS; h++) {
        let at = queries_at[h] + column * 8u;
        cells[2u * h] = vec4<f32>(queries[at], queries[at + 1u], queries[at + 2u], queries[at + 3u]);
        cells[2u * h + 1u] = vec4<f32>(queries[at + 4u], queries[at + 5u], queries[at + 6u], queries[at + 7u]);
      }
      let key = kv_head * row_cells;
      let c = min(column, columns - 1u);
      add_scores((key + c) * params.slots, (key + columns + c / 16u) * params.slots, c, slot, count, lane);
    }

    var new_top = top;
    for (var k = 0u; k < count; k++) {
      if (params.softcap > 0.0) { scores[k] = params.softcap * tanh(scores[k] / params.softcap); }
      new_top = max(new_top, scores[k]);
    }
    let fade = exp(top - new_top);
    total *= fade;
    top = new_top;
    for (var k = 0u; k < count; k++) {
      let weight = exp(scores[k] - top);
      scores[k] = weight;
      total += weight;
    }

    let fades = all_heads(fade);
    let last = tile + count > position;
    let shares = all_heads(select(1.0, 1.0 / total, last));
    for (var block = 0u; block < blocks; block++) {
      let column = block * BLOCK + lane;
      if (tile == first) {
        for (var i = 0u; i < 8u; i++) { cells[i] = vec4<f32>(); }
      } else {
        for (var h = 0u; h < HEADS; h++) { load_sums(h, out_at[h] + column * 8u, fades[h]); }
      }
      let value = kv_head * params.slots * row_cells;
      let c = min(column, columns - 1u);
      add_values(value + c, value + columns + c / 16u, c, slot, count, row_cells);
      let left = params.head_dim - min(column * 8u, params.head_dim);
      for (var h = 0u; h < HEADS; h++) { store_sums(h, out_at[h] + column * 8u, left, shares[h]); }
    }
  }
}

// Attention of many tokens: for token t at position p = state[0] + t, over the visible keys j
//   s[j] = q[t] · k[j],  with a softcap c: c·tanh(s / c)
//   out[t] = Σ_j exp(s[j] − m)·v[j] / Σ_j exp(s[j] − m),  m = max s
//
// j is visible when 0 ≤ p − j (< window, where there is one), or where SPANS
// when j is ahead of p and their tokens are in one span, however far apart,
// where WHOLE_SPANS also when j is behind;
// where FULL, every token of the program is.
// q comes from prepare_q.wgsl.
//
// A workgroup takes ROWS tokens of one query head and walks over the keys,
// KEYS at a time, carrying m and l for each row:
//   scores: thread = key lane + KEY_LANES · g, KEYS / KEY_LANES keys of ROWS_EACH rows from g · ROWS_EACH on
//   (COLUMN_BATCH columns loaded at a time, which divides their number)
//   softmax: thread = row + ROWS · mate, KEYS / MATES keys for each mate
//   values: thread = column + COLUMNS · g, of SUM_GROUPS, SUM_ROWS rows from g · SUM_ROWS on
//   (VALUE_BATCH keys loaded at a time, which divides KEYS)
//
// Grid: x = the query heads of these kv heads, y = tiles of ROWS tokens.

//#include "kvcache/cache_column.wgsl"
//#include "kvcache/place.wgsl"

struct Params {
  heads: u32, kv_heads: u32, first_kv_head: u32, slots: u32,
  window: u32, softcap: f32,
}

@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read> q: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> keys: array<Cell>;
@group(0) @binding(3) var<storage, read> values: array<Cell>;
@group(0) @binding(4) var<storage, read> spans: array<u32>;
@group(0) @binding(5) var<storage, read_write> out: array<f32>;
@group(0) @binding(6) var<uniform> params: Params;

const COLUMNS: u32 = (HEAD_DIM + 7u) / 8u;
const ROW_CELLS: u32 = COLUMNS + SCALED * ((HEAD_DIM + 127u) / 128u); // of a row in the cache
const KEYS_EACH: u32 = KEYS / KEY_LANES;
const ROWS_EACH: u32 = ROWS * KEY_LANES / THREADS;
const SCORES: u32 = KEYS_EACH * ROWS_EACH;              // of one thread
const QUERIES: u32 = 2u * ROWS_EACH;                    // vec4s of a column
const MATES: u32 = THREADS / ROWS;
const MATE_KEYS: u32 = KEYS / MATES;
const WIDE: u32 = (COLUMNS + THREADS - 1u) / THREADS;   // columns of one thread
const SUM_ROWS: u32 = (ROWS + SUM_GROUPS - 1u) / SUM_GROUPS;
// A weight's row is padded so that threads of one row group hit different banks.
const STRIDE: u32 = ROWS + 4u;
const WEIGHTS: u32 = (KEYS + 1u) * STRIDE;
const SUMS: u32 = SUM_ROWS * WIDE * 2u; // vec4s of one thread
const KEY_LOADS: u32 = COLUMN_BATCH * KEYS_EACH;
const VALUE_LOADS: u32 = VALUE_BATCH * WIDE;
const NOTHING: f32 = -1e30;

var<workgroup> weights: array<f32, WEIGHTS>; // [key][row]: scores, then weights
var<workgroup> shared_rows: array<f32, THREADS>;
var<workgroup> fades: array<f32, ROWS>;

fn four_halves(a: u32, b: u32) -> vec4<f32> { return vec4<f32>(unpack2x16float(a), unpack2x16float(b)); }

// visible says whether the token at row t (position p) sees the key at position j.
fn visible(t: u32, p: u32, j: u32, width: u32) -> bool {
  if (t >= width) { return false; }
  var seen = j <= p;
//#if FULL
  seen = true;
//#end
//#if SPANS
  let start = p - t;
  if (!seen && j < start + width) { seen = spans[t] != 0u && spans[t] == spans[j - start]; }
//#end
  if (params.window > 0u && j + params.window <= p) { seen = false; }
//#if WHOLE_SPANS
  if (!seen && j >= start && j < start + width) { seen = spans[t] != 0u && spans[t] == spans[j - start]; }
//#end
  return seen;
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let start = state[0];
  let width = state[1];
  let first_row = group.y * ROWS;
  if (first_row >= width) { return; }
  let last_row = min(first_row + ROWS, width) - 1u;

  let ratio = params.heads / params.kv_heads;
  let kv_head = cache_head(group.x / ratio, 0u);
  let head = params.first_kv_head * ratio + group.x;

  // The keys that any row sees.
  var begin = 0u;
  if (params.window > 0u && start + first_row + 1u > params.window) { begin = start + first_row + 1u - params.window; }
  var end = start + last_row + 1u;
//#if SPANS
  for (var t = first_row; t <= last_row; t++) {
    if (spans[t] != 0u) {
      end = start + width;
//#if WHOLE_SPANS
      begin = min(begin, start);
//#end
    }
  }
//#end
//#if FULL
  end = start + width;
//#end

  let key_lane = lane % KEY_LANES;
  let score_row = lane / KEY_LANES * ROWS_EACH;
  let row = lane % ROWS;
  let mate = lane / ROWS;
  let column = lane % COLUMNS;
  let sum_group = lane / COLUMNS;
  let sum_row = select(0u, sum_group * SUM_ROWS, WIDE == 1u);
  let sums_here = WIDE > 1u || (sum_group < SUM_GROUPS && sum_row < ROWS);

  var top = NOTHING;
  var total = 0.0; // this thread's part of its row's l
  var sums: array<vec4<f32>, SUMS>;
  for (var i = 0u; i < SUMS; i++) { sums[i] = vec4<f32>(0.0); }

  for (var tile = begin; tile < end; tile += KEYS) {
    let count = min(KEYS, end - tile);
    let tile_slot = tile % params.slots;

    var scores: array<f32, SCORES>;
    for (var i = 0u; i < SCORES; i++) { scores[i] = 0.0; }
    for (var c = 0u; c < COLUMNS; c += COLUMN_BATCH) {
      // What is loaded first does not wait for what is done with it.
      var loaded: array<Loaded, KEY_LOADS>;
      for (var m = 0u; m < KEYS_EACH; m++) {
        if (m * KEY_LANES < count) {
          var slot = tile_slot + min(key_lane + m * KEY_LANES, count - 1u);
          if (slot >= params.slots) { slot -= params.slots; }
          for (var n = 0u; n < COLUMN_BATCH; n++) {
            loaded[n * KEYS_EACH + m] = load_key(kv_head, c + n, slot);
          }
        }
      }
      for (var n = 0u; n < COLUMN_BATCH; n++) {
        var queries: array<vec4<f32>, QUERIES>;
        for (var i = 0u; i < ROWS_EACH; i++) {
          let at = (min(first_row + score_row + i, last_row) * params.heads + head) * COLUMNS * 2u + 2u * (c + n);
          queries[2u * i] = q[at];
          queries[2u * i + 1u] = q[at + 1u];
        }
        for (var m = 0u; m < KEYS_EACH; m++) {
          if (m * KEY_LANES < count) {
            let k = unpacked(loaded[n * KEYS_EACH + m], c + n);
            for (var i = 0u; i < ROWS_EACH; i++) {
              scores[m * ROWS_EACH + i] += dot(queries[2u * i], k.low) + dot(queries[2u * i + 1u], k.high);
            }
          }
        }
      }
    }
    for (var m = 0u; m < KEYS_EACH; m++) {
      let key = key_lane + m * KEY_LANES;
      for (var i = 0u; i < ROWS_EACH; i++) {
        var s = scores[m * ROWS_EACH + i];
        if (params.softcap > 0.0) { s = params.softcap * tanh(s / params.softcap); }
        let t = first_row + score_row + i;
        if (key >= count || !visible(t, start + t, tile + key, width)) { s = NOTHING; }
        weights[key * STRIDE + score_row + i] = s;
      }
    }
    workgroupBarrier();

    var mine: array<f32, MATE_KEYS>;
    var tile_top = NOTHING;
    for (var i = 0u; i < MATE_KEYS; i++) {
      mine[i] = weights[(mate * MATE_KEYS + i) * STRIDE + row];
      tile_top = max(tile_top, mine[i]);
    }
    shared_rows[lane] = tile_top;
    workgroupBarrier();
    for (var i = 0u; i < MATES; i++) { tile_top = max(tile_top, shared_rows[row + i * ROWS]); }
    let new_top = max(top, tile_top);
    let fade = exp(top - new_top);
    total = total * fade;
    for (var i = 0u; i < MATE_KEYS; i++) {
      // A row may see nothing of a tile, before it has seen anything at all.
      var weight = 0.0;
      if (mine[i] > NOTHING) { weight = exp(mine[i] - new_top); }
      total += weight;
      weights[(mate * MATE_KEYS + i) * STRIDE + row] = weight;
    }
    if (mate == 0u) { fades[row] = fade; }
    top = new_top;
    workgroupBarrier();

    if (sums_here) {
      for (var i = 0u; i < SUM_ROWS; i++) {
        let fade_here = fades[min(sum_row + i, ROWS - 1u)];
        for (var w = 0u; w < WIDE * 2u; w++) { sums[i * WIDE * 2u + w] = sums[i * WIDE * 2u + w] * fade_here; }
      }
      for (var k = 0u; k < count; k += VALUE_BATCH) {
        var loaded: array<Loaded, VALUE_LOADS>;
        for (var n = 0u; n < VALUE_BATCH; n++) {
          var slot = tile_slot + min(k + n, count - 1u);
          if (slot >= params.slots) { slot -= params.slots; }
          for (var w = 0u; w < WIDE; w++) {
            let c = select(column, min(lane + w * THREADS, COLUMNS - 1u), WIDE > 1u);
            loaded[n * WIDE + w] = load_value(kv_head, c, slot);
          }
        }
        for (var n = 0u; n < VALUE_BATCH; n++) {
          // Weights beyond the tile's keys are zero. Rows beyond the tile's
          // read what lies behind it and are not written.
          var shares: array<f32, SUM_ROWS>;
          for (var i = 0u; i < SUM_ROWS; i++) { shares[i] = weights[(k + n) * STRIDE + sum_row + i]; }
          for (var w = 0u; w < WIDE; w++) {
            let v = unpacked(loaded[n * WIDE + w], select(column, lane + w * THREADS, WIDE > 1u));
            for (var i = 0u; i < SUM_ROWS; i++) {
              sums[(i * WIDE + w) * 2u] += shares[i] * v.low;
              sums[(i * WIDE + w) * 2u + 1u] += shares[i] * v.high;
            }
          }
        }
      }
    }
    workgroupBarrier();
  }

  shared_rows[lane] = total;
  workgroupBarrier();
  if (!sums_here) { return; }
  for (var i = 0u; i < SUM_ROWS; i++) {
    let r = sum_row + i;
    if (r < ROWS && first_row + r < width) {
      var l = 0.0;
      for (var j = 0u; j < MATES; j++) { l += shared_rows[r + j * ROWS]; }
      let base = ((first_row + r) * params.heads + head) * HEAD_DIM;
      for (var w = 0u; w < WIDE; w++) {
        let c = select(column, lane + w * THREADS, WIDE > 1u);
        if (WIDE == 1u || c < COLUMNS) {
          let low = sums[(i * WIDE + w) * 2u] / l;
          let high = sums[(i * WIDE + w) * 2u + 1u] / l;
          for (var d = 0u; d < 4u; d++) {
            if (8u * c + d < HEAD_DIM) { out[base + 8u * c + d] = low[d]; }
            if (8u * c + 4u + d < HEAD_DIM) { out[base + 8u * c + 4u + d] = high[d]; }
          }
        }
      }
    }
  }
}

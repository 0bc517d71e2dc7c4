// One token's attention, q at position p = state[0], over keys j of [first, p]:
//   s[j] = scale · rope(rms(q; q_norm)) · k[j],  with a softcap c: c·tanh(s / c)
//   out = Σ_j exp(s[j] − m)·v[j] / l,  m = max s,  l = Σ_j exp(s[j] − m)
//
// A workgroup takes HEADS query heads of one kv head, so that they share its
// keys, and a range of them (a split), KEYS at a time. Where SPLIT, it leaves
// m, l and the undivided sum for merge.wgsl, which draws their layout;
// store_kv.wgsl draws the cache's. m and l are carried from tile to tile.
//
//   scores: thread = key lane + KEY_LANES · slice, KEYS / KEY_LANES keys each, slices take turns over the columns
//   softmax: HEADS groups of threads, each over the keys of its head
//   values: thread = column + COLUMNS · slice, VALUE_SLICES take turns over the keys
//
// Grid: x = chunks of query heads, chunks_per_kv for each kv head; y = splits.

//#include "rope.wgsl"

struct Params {
  heads: u32, kv_heads: u32, first_kv_head: u32, chunks_per_kv: u32,
  slots: u32, window: u32, splits: u32, rotated: u32,
  q_offset: u32, normed: u32, eps: f32, scale: f32,
  softcap: f32,
}

@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read> q: array<f32>;
@group(0) @binding(2) var<storage, read> q_norm: array<f32>;
@group(0) @binding(3) var<storage, read> rope_table: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read> keys: array<vec4<u32>>;
@group(0) @binding(5) var<storage, read> values: array<vec4<u32>>;
@group(0) @binding(6) var<storage, read_write> out: array<f32>;
@group(0) @binding(7) var<uniform> params: Params;

const COLUMNS: u32 = (HEAD_DIM + 7u) / 8u;      // vectors of 8 in a row
const PADDED: u32 = COLUMNS * 8u;
const KEY_SLICES: u32 = THREADS / KEY_LANES;
const KEYS_EACH: u32 = KEYS / KEY_LANES;
const SCORES: u32 = KEYS_EACH * HEADS;          // of one thread
const QUERIES: u32 = 2u * HEADS;                // vec4s of a column
const TEAM: u32 = THREADS / HEADS;              // threads of one head in the softmax
const TEAM_KEYS: u32 = (KEYS + TEAM - 1u) / TEAM;
const WIDE: u32 = (COLUMNS + THREADS - 1u) / THREADS; // columns of one thread
// cells holds q, HEADS · PADDED values, in CELLS vec4s; at the end, the sums
// of the slices, of SUM_HEADS heads at a time.
const SUM_CELLS: u32 = VALUE_SLICES * PADDED / 4u; // of one head

const SLICED: u32 = KEY_SLICES * HEADS * KEYS;
const WEIGHTS: u32 = HEADS * KEYS;
const SUMS: u32 = HEADS * WIDE * 2u;            // vec4s of one thread
const NOTHING: f32 = -1e30;

var<workgroup> cells: array<vec4<f32>, CELLS>;
var<workgroup> sliced: array<f32, SLICED>;
var<workgroup> weights: array<f32, WEIGHTS>;
var<workgroup> team: array<f32, THREADS>;
var<workgroup> fades: array<f32, HEADS>;

// query_value is element i of a query head's row as it came.
fn query_value(head: u32, i: u32) -> f32 {
  return q[params.q_offset + head * HEAD_DIM + i];
}

fn query_normed(head: u32, i: u32, inverse: f32) -> f32 {
  var v = query_value(head, i) * inverse;
  if (params.normed != 0u) { v = v * q_norm[i]; }
  return v;
}

// query_element is element i, normalised, rotated and scaled.
fn query_element(head: u32, i: u32, inverse: f32, position: u32) -> f32 {
  if (i >= HEAD_DIM) { return 0.0; }
  var v = query_normed(head, i, inverse);
  if (i < params.rotated) {
    let half = params.rotated / 2u;
    if (i < half) {
      let turn = rope_turn(position, i);
      v = v * turn.x - query_normed(head, i + half, inverse) * turn.y;
    } else {
      let turn = rope_turn(position, i - half);
      v = v * turn.x + query_normed(head, i - half, inverse) * turn.y;
    }
  }
  return v * params.scale;
}

// load_query fills the first cells with the queries; head h's team does its row.
fn load_query(head: u32, h: u32, mate: u32, position: u32) {
  var inverse = 1.0;
  if (params.normed != 0u) {
    var squares = 0.0;
    for (var i = mate; i < HEAD_DIM; i += TEAM) {
      let v = query_value(head, i);
      squares += v * v;
    }
    team[h * TEAM + mate] = squares;
    workgroupBarrier();
    var sum = 0.0;
    for (var i = 0u; i < TEAM; i++) { sum += team[h * TEAM + i]; }
    inverse = 1.0 / sqrt(sum / f32(HEAD_DIM) + params.eps);
  }
  for (var c = mate; c < PADDED / 4u; c += TEAM) {
    cells[h * (PADDED / 4u) + c] = vec4<f32>(
      query_element(head, 4u * c, inverse, position),
      query_element(head, 4u * c + 1u, inverse, position),
      query_element(head, 4u * c + 2u, inverse, position),
      query_element(head, 4u * c + 3u, inverse, position));
  }
  workgroupBarrier();
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let position = state[0];
  var first = 0u;
  if (params.window > 0u && position + 1u > params.window) { first = position + 1u - params.window; }
  let visible = position + 1u - first;
  // Splits take whole tiles of keys; the last filled one takes the rest.
  let tiles = (visible + KEYS - 1u) / KEYS;
  let share = (tiles + params.splits - 1u) / params.splits * KEYS;
  let filled = (visible + share - 1u) / share;
  if (group.y >= filled) { return; }
  let end = min(first + (group.y + 1u) * share, position + 1u);

  let ratio = params.heads / params.kv_heads;
  let kv_head = group.x / params.chunks_per_kv;
  let chunk = group.x % params.chunks_per_kv * HEADS;
  let base_head = (params.first_kv_head + kv_head) * ratio;
  let h = lane / TEAM;
  let mate = lane % TEAM;
  // Where HEADS does not divide the group, the last chunk repeats its last head.
  load_query(base_head + min(chunk + h, ratio - 1u), h, mate, position);

  let key_lane = lane % KEY_LANES;
  let key_slice = lane / KEY_LANES;
  let column = lane % COLUMNS;
  let value_slice = lane / COLUMNS;

  var top = NOTHING;  // of this thread's team's head
  var total = 0.0;    // this thread's part of l
  var sums: array<vec4<f32>, SUMS>;
  for (var i = 0u; i < SUMS; i++) { sums[i] = vec4<f32>(0.0); }

  for (var tile = first + group.y * share; tile < end; tile += KEYS) {
    let count = min(KEYS, end - tile);
    let tile_slot = tile % params.slots;

    // Scores, each thread over its slice of the columns.
    var scores: array<f32, SCORES>;
    for (var i = 0u; i < SCORES; i++) { scores[i] = 0.0; }
    for (var c = select(0u, key_slice, KEY_SLICES > 1u); c < COLUMNS; c += KEY_SLICES) {
      var queries: array<vec4<f32>, QUERIES>;
      for (var i = 0u; i < HEADS; i++) {
        queries[2u * i] = cells[i * (PADDED / 4u) + 2u * c];
        queries[2u * i + 1u] = cells[i * (PADDED / 4u) + 2u * c + 1u];
      }
      for (var m = 0u; m < KEYS_EACH; m++) {
        let key = key_lane + m * KEY_LANES;
        if (key < count) {
          var slot = tile_slot + key;
          if (slot >= params.slots) { slot -= params.slots; }
          let k = keys[(kv_head * COLUMNS + c) * params.slots + slot];
          let low = vec4<f32>(unpack2x16float(k.x), unpack2x16float(k.y));
          let high = vec4<f32>(unpack2x16float(k.z), unpack2x16float(k.w));
          for (var i = 0u; i < HEADS; i++) {
            scores[m * HEADS + i] += dot(queries[2u * i], low) + dot(queries[2u * i + 1u], high);
          }
        }
      }
    }
    for (var m = 0u; m < KEYS_EACH; m++) {
      for (var i = 0u; i < HEADS; i++) {
        sliced[(key_slice * HEADS + i) * KEYS + key_lane + m * KEY_LANES] = scores[m * HEADS + i];
      }
    }
    workgroupBarrier();

    // Each team: its head's scores, their largest, their weights.
    var mine: array<f32, TEAM_KEYS>;
    var tile_top = NOTHING;
    for (var i = 0u; i < TEAM_KEYS; i++) {
      let k = mate + i * TEAM;
      mine[i] = NOTHING;
      if (k < count) {
        var s = 0.0;
        for (var slice = 0u; slice < KEY_SLICES; slice++) {
          s += sliced[(slice * HEADS + h) * KEYS + k];
        }
        if (params.softcap > 0.0) { s = params.softcap * tanh(s / params.softcap); }
        mine[i] = s;
        tile_top = max(tile_top, s);
      }
    }
    team[lane] = tile_top;
    workgroupBarrier();
    for (var i = 0u; i < min(TEAM, KEYS); i++) { tile_top = max(tile_top, team[h * TEAM + i]); }
    let new_top = max(top, tile_top);
    let fade = exp(top - new_top);
    total = total * fade;
    for (var i = 0u; i < TEAM_KEYS; i++) {
      let k = mate + i * TEAM;
      if (k < KEYS) {
        var weight = 0.0;
        if (k < count) { weight = exp(mine[i] - new_top); }
        total += weight;
        weights[h * KEYS + k] = weight;
      }
    }
    if (mate == 0u) { fades[h] = fade; }
    top = new_top;
    workgroupBarrier();

    // Values, each thread its columns over its slice of the keys.
    if (value_slice < VALUE_SLICES || WIDE > 1u) {
      for (var i = 0u; i < SUMS; i++) { sums[i] = sums[i] * fades[i / (WIDE * 2u)]; }
      for (var k = select(0u, value_slice, WIDE == 1u); k < count; k += VALUE_SLICES) {
        var slot = tile_slot + k;
        if (slot >= params.slots) { slot -= params.slots; }
        let row = (kv_head * params.slots + slot) * COLUMNS;
        var shares: array<f32, HEADS>;
        for (var i = 0u; i < HEADS; i++) { shares[i] = weights[i * KEYS + k]; }
        for (var w = 0u; w < WIDE; w++) {
          let c = select(column, lane + w * THREADS, WIDE > 1u);
          if (WIDE == 1u || c < COLUMNS) {
            let v = values[row + c];
            let low = vec4<f32>(unpack2x16float(v.x), unpack2x16float(v.y));
            let high = vec4<f32>(unpack2x16float(v.z), unpack2x16float(v.w));
            for (var i = 0u; i < HEADS; i++) {
              sums[(i * WIDE + w) * 2u] += shares[i] * low;
              sums[(i * WIDE + w) * 2u + 1u] += shares[i] * high;
            }
          }
        }
      }
    }
  }

  workgroupBarrier();
  team[lane] = total;
  if (mate == 0u) { weights[h] = top; }
  for (var batch = 0u; batch < HEADS; batch += SUM_HEADS) {
    workgroupBarrier();
    if (value_slice < VALUE_SLICES || WIDE > 1u) {
      for (var i = 0u; i < SUM_HEADS; i++) {
        if (batch + i < HEADS) {
          for (var w = 0u; w < WIDE; w++) {
            let c = select(column, lane + w * THREADS, WIDE > 1u);
            if (WIDE == 1u || c < COLUMNS) {
              let at = i * SUM_CELLS + select(value_slice, 0u, WIDE > 1u) * (PADDED / 4u) + 2u * c;
              cells[at] = sums[((batch + i) * WIDE + w) * 2u];
              cells[at + 1u] = sums[((batch + i) * WIDE + w) * 2u + 1u];
            }
          }
        }
      }
    }
    workgroupBarrier();
    for (var item = lane; item < SUM_HEADS * HEAD_DIM; item += THREADS) {
      let i = item / HEAD_DIM;
      let d = item % HEAD_DIM;
      let local = batch + i;
      if (local < HEADS && chunk + local < ratio) {
        var sum = 0.0;
        for (var slice = 0u; slice < VALUE_SLICES; slice++) {
          sum += cells[i * SUM_CELLS + slice * (PADDED / 4u) + d / 4u][d % 4u];
        }
        let head = base_head + chunk + local;
//#if SPLIT
        out[(4u + 2u * params.heads * params.splits + 3u) / 4u * 4u + (head * params.splits + group.y) * HEAD_DIM + d] = sum;
//#else
        var l = 0.0;
        for (var t = 0u; t < TEAM; t++) { l += team[local * TEAM + t]; }
        out[head * HEAD_DIM + d] = sum / l;
//#end
      }
    }
  }
//#if SPLIT
  if (mate == 0u && chunk + h < ratio) {
    var l = 0.0;
    for (var t = 0u; t < TEAM; t++) { l += team[h * TEAM + t]; }
    let head = base_head + chunk + h;
    out[4u + 2u * (head * params.splits + group.y)] = weights[h];
    out[5u + 2u * (head * params.splits + group.y)] = l;
  }
  if (lane == 0u && group.x == 0u && group.y == 0u) { out[0] = f32(filled); }
//#end
}

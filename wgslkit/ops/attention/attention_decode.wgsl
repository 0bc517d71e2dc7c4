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
//   softmax: the first TEAM of each LOADERS threads, over the keys of a head
//   (COLUMN_BATCH of them loaded at a time, which divides their number)
//   values: thread = column + COLUMNS · slice, VALUE_SLICES take turns over the keys
//
// Where STORE, the workgroups of the last split first put the token's own key
// and value into the cache, as store_kv.wgsl does; all of them the same ones.
//
// Where LAST, the workgroup that is the last one to end for its heads merges
// what the others left. No barrier of WGSL reaches further than a workgroup, so
// that a word says by itself whether it is there: partials are zeros before and
// after, and a word that is still 0 is asked for again. Only LAST writes to them.
//
// Grid: x = chunks of query heads, chunks_per_kv for each kv head; y = splits; and
// where MANY, z = tokens, each at its position (place.wgsl), with a row of
// q, `region` words of partials and a row of out of its own.

//#include "rope/rope.wgsl"
//#include "kvcache/cache_column.wgsl"
//#include "kvcache/place.wgsl"

struct Params {
  heads: u32, kv_heads: u32, first_kv_head: u32, chunks_per_kv: u32,
  slots: u32, window: u32, splits: u32, q_offset: u32,
  eps: f32, scale: f32, softcap: f32,
//#if STORE
  k_offset: u32,
  v_offset: u32, kv_norms: u32, // 1: the key's norm has weights; 2: the value has no norm
//#end
//#if MANY
  q_stride: u32,
  region: u32,
//#end
}

@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read> q: array<f32>;
@group(0) @binding(2) var<storage, read> q_norm: array<f32>;
@group(0) @binding(3) var<storage, read> rope_table: array<vec2<u32>>;
//#if STORE
@group(0) @binding(4) var<storage, read_write> keys: array<Cell>;
@group(0) @binding(5) var<storage, read_write> values: array<Cell>;
//#else
@group(0) @binding(4) var<storage, read> keys: array<Cell>;
@group(0) @binding(5) var<storage, read> values: array<Cell>;
//#end
@group(0) @binding(6) var<storage, read_write> out: array<f32>;
//#if LAST
@group(0) @binding(7) var<storage, read_write> partials: array<atomic<u32>>;
//#if STORE
@group(0) @binding(8) var<storage, read> k_norm: array<f32>;
@group(0) @binding(9) var<uniform> params: Params;
//#else
@group(0) @binding(8) var<uniform> params: Params;
//#end
//#else
//#if STORE
@group(0) @binding(7) var<storage, read> k_norm: array<f32>;
@group(0) @binding(8) var<uniform> params: Params;
//#else
@group(0) @binding(7) var<uniform> params: Params;
//#end
//#end

const COLUMNS: u32 = (HEAD_DIM + 7u) / 8u;      // vectors of 8 in a row
const PADDED: u32 = COLUMNS * 8u;
const ROW_CELLS: u32 = COLUMNS + SCALED * ((HEAD_DIM + 127u) / 128u); // cells of a row in the cache
const KEY_SLICES: u32 = THREADS / KEY_LANES;
const KEYS_EACH: u32 = KEYS / KEY_LANES;
const SCORES: u32 = KEYS_EACH * HEADS;          // of one thread
const QUERIES: u32 = 2u * HEADS;                // vec4s of a column
const LOADERS: u32 = THREADS / HEADS;           // threads that load one head's query
const TEAM_KEYS: u32 = (KEYS + TEAM - 1u) / TEAM;
const WIDE: u32 = (COLUMNS + THREADS - 1u) / THREADS; // columns of one thread
// cells holds q, HEADS · PADDED values, in CELLS vec4s; at the end, the sums
// of the slices, of SUM_HEADS heads at a time.
const SUM_CELLS: u32 = VALUE_SLICES * PADDED / 4u; // of one head

const SLICED: u32 = KEY_SLICES * HEADS * KEYS;
const WEIGHTS: u32 = HEADS * KEYS;
const SUMS: u32 = HEADS * WIDE * 2u;            // vec4s of one thread
const KEY_LOADS: u32 = COLUMN_BATCH * KEYS_EACH;
const VALUE_LOADS: u32 = VALUE_BATCH * WIDE;
const NOTHING: f32 = -1e30;

var<workgroup> cells: array<vec4<f32>, CELLS>;
var<workgroup> sliced: array<f32, SLICED>;
var<workgroup> weights: array<f32, WEIGHTS>;
var<workgroup> team: array<f32, THREADS>;
var<workgroup> fades: array<f32, HEADS>;

fn four_halves(a: u32, b: u32) -> vec4<f32> { return vec4<f32>(unpack2x16float(a), unpack2x16float(b)); }

// q_first, partials_first and out_first are where a token's own begin.
//#if MANY
var<private> token: u32;
fn q_first() -> u32 { return params.q_offset + token * params.q_stride; }
fn partials_first() -> u32 { return token * params.region; }
fn out_first() -> u32 { return token * params.heads * HEAD_DIM; }
//#else
fn q_first() -> u32 { return params.q_offset; }
fn partials_first() -> u32 { return 0u; }
fn out_first() -> u32 { return 0u; }
//#end

// query_value is element i of a query head's row, normalised.
fn query_value(head: u32, i: u32, inverse: f32) -> f32 {
  if (PADDED > HEAD_DIM && i >= HEAD_DIM) { return 0.0; }
  var v = q[q_first() + head * HEAD_DIM + i] * inverse;
//#if NORMED
  v = v * q_norm[i];
//#end
  return v;
}

// query_values is the elements i to i + 3.
fn query_values(head: u32, i: u32, inverse: f32) -> vec4<f32> {
  return vec4<f32>(
    query_value(head, i, inverse), query_value(head, i + 1u, inverse),
    query_value(head, i + 2u, inverse), query_value(head, i + 3u, inverse));
}

//#if !QUADS
// query_rotated is element i, rotated.
fn query_rotated(head: u32, i: u32, inverse: f32, position: u32) -> f32 {
  if (i >= ROTATED) { return query_value(head, i, inverse); }
  let pair = i % (ROTATED / 2u);
  let turn = rope_turn(position, pair);
  let a = query_value(head, pair, inverse);
  let b = query_value(head, pair + ROTATED / 2u, inverse);
  return select(b * turn.x + a * turn.y, a * turn.x - b * turn.y, i == pair);
}
//#end

// query_inverse is 1 / sqrt(mean square of the row + eps).
fn query_inverse(head: u32, h: u32, mate: u32) -> f32 {
  var squares = 0.0;
  for (var i = mate; i < HEAD_DIM; i += LOADERS) {
    let v = q[q_first() + head * HEAD_DIM + i];
    squares += v * v;
  }
  team[h * LOADERS + mate] = squares;
  workgroupBarrier();
  var sum = 0.0;
  for (var i = h * LOADERS; i + 3u < (h + 1u) * LOADERS; i += 4u) {
    sum += (team[i] + team[i + 1u]) + (team[i + 2u] + team[i + 3u]);
  }
  for (var i = LOADERS / 4u * 4u; i < LOADERS; i++) { sum += team[h * LOADERS + i]; }
  return 1.0 / sqrt(sum / f32(HEAD_DIM) + params.eps);
}

// load_query fills the cells with the queries; LOADERS threads each.
fn load_query(head: u32, h: u32, mate: u32, position: u32) {
  var inverse = params.scale;
//#if NORMED
  inverse = inverse * query_inverse(head, h, mate);
//#end
  let row = h * (PADDED / 4u);
//#if QUADS
  // Four pairs at a time: (i, i + ROTATED/2) and the three that follow.
  for (var c = mate; c < ROTATED / 8u; c += LOADERS) {
    let a = query_values(head, 4u * c, inverse);
    let b = query_values(head, 4u * c + ROTATED / 2u, inverse);
    let t0 = rope_turn(position, 4u * c);
    let t1 = rope_turn(position, 4u * c + 1u);
    let t2 = rope_turn(position, 4u * c + 2u);
    let t3 = rope_turn(position, 4u * c + 3u);
    let cosine = vec4<f32>(t0.x, t1.x, t2.x, t3.x);
    let sine = vec4<f32>(t0.y, t1.y, t2.y, t3.y);
    cells[row + c] = a * cosine - b * sine;
    cells[row + c + ROTATED / 8u] = b * cosine + a * sine;
  }
  for (var c = mate + ROTATED / 4u; c < PADDED / 4u; c += LOADERS) {
    cells[row + c] = query_values(head, 4u * c, inverse);
  }
//#else
  for (var c = mate; c < PADDED / 4u; c += LOADERS) {
    cells[row + c] = vec4<f32>(
      query_rotated(head, 4u * c, inverse, position), query_rotated(head, 4u * c + 1u, inverse, position),
      query_rotated(head, 4u * c + 2u, inverse, position), query_rotated(head, 4u * c + 3u, inverse, position));
  }
//#end
  workgroupBarrier();
}

//#if STORE
// kv_inverses are 1 / sqrt(mean square + eps) of the token's key and value, from
// `own` of each thread.
fn kv_inverses(own: vec2<f32>, lane: u32) -> vec2<f32> {
  team[lane] = own.x;
  sliced[lane] = own.y;
  workgroupBarrier();
  var sum = vec2<f32>(0.0);
  if (lane < 16u) {
    for (var i = lane; i < THREADS; i += 16u) { sum += vec2<f32>(team[i], sliced[i]); }
  }
  workgroupBarrier();
  if (lane < 16u) {
    team[lane] = sum.x;
    sliced[lane] = sum.y;
  }
  workgroupBarrier();
  sum = vec2<f32>(0.0);
  for (var i = 0u; i < min(THREADS, 16u); i++) { sum += vec2<f32>(team[i], sliced[i]); }
  workgroupBarrier();
  return 1.0 / sqrt(sum / f32(HEAD_DIM) + params.eps);
}

// key_value is element i of the key that begins at `at`, normalised.
fn key_value(at: u32, i: u32, inverse: f32) -> f32 {
  if (PADDED > HEAD_DIM && i >= HEAD_DIM) { return 0.0; }
  var k = q[at + i] * inverse;
  if ((params.kv_norms & 1u) != 0u) { k = k * k_norm[i]; }
  return k;
}

fn key_rotated(at: u32, i: u32, inverse: f32, position: u32) -> f32 {
  let v = key_value(at, i, inverse);
  if (i >= ROTATED) { return v; }
  let half = max(ROTATED / 2u, 1u);
  let pair = i % half;
  let turn = rope_turn(position, pair);
  if (i < half) { return v * turn.x - key_value(at, i + half, inverse) * turn.y; }
  return v * turn.x + key_value(at, pair, inverse) * turn.y;
}

fn v_value(at: u32, i: u32, inverse: f32) -> f32 {
  if (PADDED > HEAD_DIM && i >= HEAD_DIM) { return 0.0; }
  return q[at + i] * inverse;
}

//#if CACHE == q8
// kept is what packed_cell reads a row from.
fn kept(i: u32) -> vec4<f32> { return cells[i]; }

//#include "kvcache/packed_cell.wgsl"
//#end

// store puts the token's own key and value of a head into the cache.
fn store(kv_head: u32, kept_head: u32, position: u32, lane: u32) {
  let k_at = params.k_offset + (params.first_kv_head + kv_head) * HEAD_DIM;
  let v_at = params.v_offset + (params.first_kv_head + kv_head) * HEAD_DIM;
  var own = vec2<f32>(0.0);
  for (var i = lane; i < HEAD_DIM; i += THREADS) {
    let kv = vec2<f32>(q[k_at + i], q[v_at + i]);
    own += kv * kv;
  }
  var inverses = kv_inverses(own, lane);
  if ((params.kv_norms & 2u) != 0u) { inverses.y = 1.0; }
  let slot = position % params.slots;
//#if CACHE == q8
  // The key, then the value: cells share scales, so that all of a row has to be there first.
  for (var part = 0u; part < 2u; part++) {
    for (var i = lane; i < PADDED / 4u; i += THREADS) {
      var row: vec4<f32>;
      for (var n = 0u; n < 4u; n++) {
        if (part == 0u) {
          row[n] = key_rotated(k_at, 4u * i + n, inverses.x, position);
        } else {
          row[n] = v_value(v_at, 4u * i + n, inverses.y);
        }
      }
      cells[i] = row;
    }
    workgroupBarrier();
    for (var c = lane; c < ROW_CELLS; c += THREADS) {
      if (part == 0u) {
        keys[(kept_head * ROW_CELLS + c) * params.slots + slot] = packed_cell(c);
      } else {
        values[(kept_head * params.slots + slot) * ROW_CELLS + c] = packed_cell(c);
      }
    }
    workgroupBarrier();
  }
//#else
  for (var c = lane; c < COLUMNS; c += THREADS) {
    var k: array<u32, 4>;
    var v: array<u32, 4>;
    for (var w = 0u; w < 4u; w++) {
      let i = 8u * c + 2u * w;
      k[w] = pack2x16float(vec2<f32>(key_rotated(k_at, i, inverses.x, position),
        key_rotated(k_at, i + 1u, inverses.x, position)));
      v[w] = pack2x16float(vec2<f32>(v_value(v_at, i, inverses.y), v_value(v_at, i + 1u, inverses.y)));
    }
    keys[(kept_head * COLUMNS + c) * params.slots + slot] = vec4<u32>(k[0], k[1], k[2], k[3]);
    values[(kept_head * params.slots + slot) * COLUMNS + c] = vec4<u32>(v[0], v[1], v[2], v[3]);
  }
//#end
  storageBarrier();
}
//#end

//#if LAST
// A value lies in partials as its bits, each turned over where MARK has a 1, so that
// 0 is no value: MARK is a signaling NaN, which no arithmetic gives, and what has its
// bits all the same is kept as the NaN beside it.
const MARK: u32 = 0x7fa5c3d1u;
// TURNS bounds the wait for words that are on their way, which takes one turn or two.
const TURNS: u32 = 65536u;
const TAKEN: u32 = 8u; // splits whose words are asked for at once

var<workgroup> arrived: u32;

fn partials_base() -> u32 { return partials_first() + (4u + 2u * params.heads * params.splits + 3u) / 4u * 4u; }

fn leave(at: u32, value: f32) { atomicStore(&partials[at], max(bitcast<u32>(value) ^ MARK, 1u)); }

// merge_last merges the splits of the workgroup's heads where all have arrived;
// counter is where they are counted, from 0 to 0. Each word is one thread's, which
// empties it.
fn merge_last(counter: u32, filled: u32, base_head: u32, count: u32, lane: u32) {
  workgroupBarrier();
  if (lane == 0u) { arrived = atomicAdd(&partials[counter], 1u) + 1u; }
  if (workgroupUniformLoad(&arrived) < filled) { return; }
  if (lane == 0u) { atomicStore(&partials[counter], 0u); }
  for (var i = lane; i < count * filled; i += THREADS) {
    let h = i / filled;
    let s = i % filled;
    let at = partials_first() + 4u + 2u * ((base_head + h) * params.splits + s);
    var pair: vec2<u32>;
    for (var turn = 0u; turn < TURNS; turn++) {
      pair = vec2<u32>(atomicLoad(&partials[at]), atomicLoad(&partials[at + 1u]));
      if (all(pair != vec2<u32>(0u))) { break; }
    }
    atomicStore(&partials[at], 0u);
    atomicStore(&partials[at + 1u], 0u);
    weights[h * KEYS + s] = bitcast<f32>(pair.x ^ MARK);
    sliced[h * KEYS + s] = bitcast<f32>(pair.y ^ MARK);
  }
  workgroupBarrier();
  for (var item = lane; item < count * HEAD_DIM; item += THREADS) {
    let h = item / HEAD_DIM;
    let d = item % HEAD_DIM;
    var most = NOTHING;
    for (var s = 0u; s < filled; s++) { most = max(most, weights[h * KEYS + s]); }
    let at = partials_base() + (base_head + h) * params.splits * HEAD_DIM + d;
    var sum = 0.0;
    var l = 0.0;
    for (var first = 0u; first < filled; first += TAKEN) {
      var words: array<u32, TAKEN>;
      for (var turn = 0u; turn < TURNS; turn++) {
        var missing = false;
        for (var n = 0u; n < TAKEN; n++) {
          if (first + n < filled) { words[n] = atomicLoad(&partials[at + (first + n) * HEAD_DIM]); }
        }
        for (var n = 0u; n < TAKEN; n++) { missing = missing || (words[n] == 0u && first + n < filled); }
        if (!missing) { break; }
      }
      for (var n = 0u; n < TAKEN; n++) {
        let s = first + n;
        if (s < filled) {
          atomicStore(&partials[at + s * HEAD_DIM], 0u);
          let share = exp(weights[h * KEYS + s] - most);
          l += share * sliced[h * KEYS + s];
          sum += share * bitcast<f32>(words[n] ^ MARK);
        }
      }
    }
    out[out_first() + (base_head + h) * HEAD_DIM + d] = sum / l;
  }
}
//#end

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
//#if MANY
  token = group.z;
  let position = position_of(group.z); // the same in all of a workgroup, which of token compilers doubt
  let kept_head = cache_head(group.x / params.chunks_per_kv, group.z);
//#else
  let position = position_of(0u);
  let kept_head = cache_head(group.x / params.chunks_per_kv, 0u);
//#end
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
  let h = lane / LOADERS;
  let mate = lane % LOADERS;
//#if STORE
  if (end == position + 1u && state[1] > 0u) { store(kv_head, kept_head, position, lane); }
//#end
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
    for (var c = select(0u, key_slice, KEY_SLICES > 1u); c < COLUMNS; c += KEY_SLICES * COLUMN_BATCH) {
      // What is loaded first does not wait for what is done with it.
      var loaded: array<Loaded, KEY_LOADS>;
      for (var m = 0u; m < KEYS_EACH; m++) {
        if (m * KEY_LANES < count) {
          var slot = tile_slot + min(key_lane + m * KEY_LANES, count - 1u);
          if (slot >= params.slots) { slot -= params.slots; }
          for (var n = 0u; n < COLUMN_BATCH; n++) {
            loaded[n * KEYS_EACH + m] = load_key(kept_head, c + n * KEY_SLICES, slot);
          }
        }
      }
      for (var n = 0u; n < COLUMN_BATCH; n++) {
        var queries: array<vec4<f32>, QUERIES>;
        for (var i = 0u; i < HEADS; i++) {
          let at = i * (PADDED / 4u) + 2u * (c + n * KEY_SLICES);
          queries[2u * i] = cells[at];
          queries[2u * i + 1u] = cells[at + 1u];
        }
        for (var m = 0u; m < KEYS_EACH; m++) {
          if (m * KEY_LANES < count) {
            let k = unpacked(loaded[n * KEYS_EACH + m], c + n * KEY_SLICES);
            for (var i = 0u; i < HEADS; i++) {
              scores[m * HEADS + i] += dot(queries[2u * i], k.low) + dot(queries[2u * i + 1u], k.high);
            }
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
      if (mate < TEAM && k < count) {
        var s = 0.0;
        for (var slice = 0u; slice < KEY_SLICES; slice++) {
          s += sliced[(slice * HEADS + h) * KEYS + k];
        }
        if (params.softcap > 0.0) { s = params.softcap * tanh(s / params.softcap); }
        mine[i] = s;
        tile_top = max(tile_top, s);
      }
    }
    if (mate < TEAM) { team[h * TEAM + mate] = tile_top; }
    workgroupBarrier();
    for (var i = 0u; i < TEAM; i++) { tile_top = max(tile_top, team[h * TEAM + i]); }
    let new_top = max(top, tile_top);
    let fade = exp(top - new_top);
    total = total * fade;
    for (var i = 0u; i < TEAM_KEYS; i++) {
      let k = mate + i * TEAM;
      if (mate < TEAM && k < KEYS) {
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
      for (var k = select(0u, value_slice, WIDE == 1u); k < count; k += VALUE_SLICES * VALUE_BATCH) {
        var loaded: array<Loaded, VALUE_LOADS>;
        for (var n = 0u; n < VALUE_BATCH; n++) {
          var slot = tile_slot + min(k + n * VALUE_SLICES, count - 1u);
          if (slot >= params.slots) { slot -= params.slots; }
          for (var w = 0u; w < WIDE; w++) {
            let c = select(column, min(lane + w * THREADS, COLUMNS - 1u), WIDE > 1u);
            loaded[n * WIDE + w] = load_value(kept_head, c, slot);
          }
        }
        for (var n = 0u; n < VALUE_BATCH; n++) {
          var shares: array<f32, HEADS>;
          for (var i = 0u; i < HEADS; i++) {
            // Weights beyond the tile's keys are zero, and beyond the tile there are none.
            let key = k + n * VALUE_SLICES;
            shares[i] = select(0.0, weights[i * KEYS + min(key, KEYS - 1u)], key < KEYS);
          }
          for (var w = 0u; w < WIDE; w++) {
            let v = unpacked(loaded[n * WIDE + w], select(column, lane + w * THREADS, WIDE > 1u));
            for (var i = 0u; i < HEADS; i++) {
              sums[(i * WIDE + w) * 2u] += shares[i] * v.low;
              sums[(i * WIDE + w) * 2u + 1u] += shares[i] * v.high;
            }
          }
        }
      }
    }
  }

  workgroupBarrier();
  if (mate < TEAM) { team[h * TEAM + mate] = total; }
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
//#if LAST
        leave(partials_base() + (head * params.splits + group.y) * HEAD_DIM + d, sum);
//#else
        out[partials_first() + (4u + 2u * params.heads * params.splits + 3u) / 4u * 4u +
          (head * params.splits + group.y) * HEAD_DIM + d] = sum;
//#end
//#else
        var l = 0.0;
        for (var t = 0u; t < TEAM; t++) { l += team[local * TEAM + t]; }
        out[out_first() + head * HEAD_DIM + d] = sum / l;
//#end
      }
    }
  }
//#if SPLIT
  if (mate == 0u && chunk + h < ratio) {
    var l = 0.0;
    for (var t = 0u; t < TEAM; t++) { l += team[h * TEAM + t]; }
    let at = partials_first() + 4u + 2u * ((base_head + chunk + h) * params.splits + group.y);
//#if LAST
    leave(at, weights[h]);
    leave(at + 1u, l);
//#else
    out[at] = weights[h];
    out[at + 1u] = l;
//#end
  }
//#if LAST
  let counter = partials_base() + params.heads * params.splits * HEAD_DIM + group.x;
  merge_last(counter, filled, base_head + chunk, min(HEADS, ratio - chunk), lane);
//#else
  if (lane == 0u && group.x == 0u && group.y == 0u) { out[partials_first()] = f32(filled); }
//#end
//#end
}

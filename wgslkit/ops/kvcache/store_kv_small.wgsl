// What store_kv.wgsl does, for heads of any size in one kernel without barriers
// and workgroup memory: a workgroup is a subgroup of four threads.

//#enable subgroups
//#include "rope/rope.wgsl"
//#include "place.wgsl"

struct Params {
  heads: u32, first_head: u32, slots: u32, rotated: u32,
  k_offset: u32, k_stride: u32, v_offset: u32, v_stride: u32,
  eps: f32, weighted: u32, head_dim: u32, plain_v: u32,
}

@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read> k: array<f32>;
@group(0) @binding(2) var<storage, read> v: array<f32>;
@group(0) @binding(3) var<storage, read> head_weight: array<f32>;
@group(0) @binding(4) var<storage, read> rope_table: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> keys: array<u32>; // of cells, each
@group(0) @binding(6) var<storage, read_write> values: array<u32>;
@group(0) @binding(7) var<uniform> params: Params;

const THREADS: u32 = 4u;
//#if CACHE == q8
const CELL_WORDS: u32 = 2u;
//#else
const CELL_WORDS: u32 = 4u;
//#end

// element is number i of the row that begins at `at`.
fn element(at: u32, i: u32, is_key: bool) -> f32 {
  if (is_key) { return k[at + i]; }
  return v[at + i];
}

// key_value is element i before it is rotated.
fn key_value(at: u32, i: u32) -> f32 {
  let x = k[at + i];
  if (params.weighted == 0u) { return x; }
  return x * head_weight[i];
}

// rotated is element i of the key at a position.
fn rotated(at: u32, i: u32, position: u32) -> f32 {
  if (i >= params.rotated) { return key_value(at, i); }
  let half = params.rotated / 2u;
  let second = i >= half;
  let turn = rope_turn(position, select(i, i - half, second));
  let mate = key_value(at, select(i + half, i - half, second));
  return key_value(at, i) * turn.x + mate * select(-turn.y, turn.y, second);
}

// store_word puts word w of a row's cell c into a head's slot.
fn store_word(head: u32, row_cells: u32, c: u32, slot: u32, w: u32, word: u32, is_key: bool) {
  if (is_key) {
    keys[((head * row_cells + c) * params.slots + slot) * CELL_WORDS + w] = word;
  } else {
    values[((head * params.slots + slot) * row_cells + c) * CELL_WORDS + w] = word;
  }
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let token = group.y;
  if (token >= state[1]) { return; }
  let is_key = group.z == 0u;
  let head = (params.first_head + group.x) * params.head_dim;
  let at = select(params.v_offset + token * params.v_stride, params.k_offset + token * params.k_stride, is_key) + head;
  var squares = 0.0;
  for (var i = lane; i < params.head_dim; i += THREADS) {
    let x = element(at, i, is_key);
    squares += x * x;
  }
  var inverse = 1.0 / sqrt(subgroupAdd(squares) / f32(params.head_dim) + params.eps);
  if (!is_key && params.plain_v != 0u) { inverse = 1.0; }

  let position = position_of(token);
  let kept_head = cache_head(group.x, token);
  let slot = position % params.slots;
  let columns = (params.head_dim + 7u) / 8u;
//#if CACHE == q8
  let row_cells = columns + (params.head_dim + 127u) / 128u;
  for (var block = 0u; block < columns; block += 16u) {
    // Four cells of each thread, and the cell of their four scales.
    var fours: array<vec4<f32>, 8>;
    var most = vec4<f32>();
    for (var n = 0u; n < 8u; n++) {
      for (var m = 0u; m < 4u; m++) {
        let i = 8u * block + 32u * lane + 4u * n + m;
        if (i < params.head_dim) {
          if (is_key) { fours[n][m] = rotated(at, i, position) * inverse; } else { fours[n][m] = v[at + i] * inverse; }
        }
      }
      most = max(most, abs(fours[n]));
    }
    let largest = max(max(most.x, most.y), max(most.z, most.w));
    let share = select(0.0, 1.0 / largest, largest > 1e-30);
    for (var n = 0u; n < 8u; n++) {
      let c = block + 4u * lane + n / 2u;
      if (c < columns) { store_word(kept_head, row_cells, c, slot, n % 2u, pack4x8snorm(fours[n] * share), is_key); }
    }
    let d = largest / 127.0;
    let low = pack2x16float(vec2<f32>(subgroupBroadcast(d, 0u), subgroupBroadcast(d, 1u)));
    let high = pack2x16float(vec2<f32>(subgroupBroadcast(d, 2u), subgroupBroadcast(d, 3u)));
    if (lane < 2u) {
      store_word(kept_head, row_cells, columns + block / 16u, slot, lane, select(high, low, lane == 0u), is_key);
    }
  }
//#else
  for (var w = lane; w < params.head_dim / 2u; w += THREADS) {
    var pair = vec2<f32>();
    for (var i = 0u; i < 2u; i++) {
      if (is_key) { pair[i] = rotated(at, 2u * w + i, position); } else { pair[i] = v[at + 2u * w + i]; }
    }
    store_word(kept_head, columns, w / 4u, slot, w % 4u, pack2x16float(pair * inverse), is_key);
  }
//#end
}

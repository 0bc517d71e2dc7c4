// Attention in which every token sees every token of the program:
//   s[j] = q[t] · k[j],  out[t] = Σ_j exp(s[j] − m)·v[j] / Σ_j exp(s[j] − m),  m = max s
// q, keys and values come from grid_heads.wgsl.
//
// A workgroup takes ROWS tokens of one head and walks over all keys, KEYS (32)
// at a time, both products as tiles in registers, from workgroup memory:
//   thread = x + 8·y has the rows 8·y … 8·y + 7; of the scores the keys 4·x … 4·x + 3,
//   of the sums the columns of four x, x + 8, x + 16 …
// It carries the rows' maxima, the same in all threads of a row, and each
// thread its own part of their sums. What is loaded for the next tile is under
// way while this one is computed.
//
// Grid: x = heads, y = tiles of ROWS tokens.

struct Params { heads: u32, slots: u32 }

@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read> q: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> keys: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> values: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> out: array<vec4<f32>>;
@group(0) @binding(5) var<uniform> params: Params;

const KEYS: u32 = 32u;
const COLUMNS: u32 = (HEAD_DIM + 7u) / 8u;         // vectors of 8 of a head
const PADDED: u32 = 8u * COLUMNS;
const FOURS: u32 = 2u * COLUMNS;                   // vectors of 4 of a head
const WIDE: u32 = (FOURS + 7u) / 8u;               // of one thread
const SUMS: u32 = 8u * WIDE;
const ROW_FOURS: u32 = ROWS / 4u;
const QUERIES: u32 = PADDED * ROW_FOURS;
const LOADS: u32 = (KEYS * COLUMNS + ROWS - 1u) / ROWS; // vectors of 8 of a tile that one thread loads
const WEIGHTS: u32 = KEYS * ROW_FOURS;
const NOTHING: f32 = -1e30;

var<workgroup> queries: array<vec4<f32>, QUERIES>;   // [column][row]
// A tile of keys, [column][key], or of values, [key][column]; between them what
// 8 threads found for each row.
var<workgroup> tile: array<vec4<f32>, TILE>;
var<workgroup> weights: array<vec4<f32>, WEIGHTS>;   // [key][row]

fn low_four(v: vec4<u32>) -> vec4<f32> { return vec4<f32>(unpack2x16float(v.x), unpack2x16float(v.y)); }
fn high_four(v: vec4<u32>) -> vec4<f32> { return vec4<f32>(unpack2x16float(v.z), unpack2x16float(v.w)); }

fn store_queries(thread: u32, head: u32, first_row: u32, last_row: u32) {
  let at = (min(first_row + thread, last_row) * params.heads + head) * FOURS;
  for (var c = 0u; c < FOURS; c++) {
    let v = q[at + c];
    let to = 4u * c * ROW_FOURS + thread / 4u;
    let lane = thread % 4u;
    queries[to][lane] = v.x;
    queries[to + ROW_FOURS][lane] = v.y;
    queries[to + 2u * ROW_FOURS][lane] = v.z;
    queries[to + 3u * ROW_FOURS][lane] = v.w;
  }
}

// One of a tile's vectors of 8 by number: of keys, neighbouring numbers are
// neighbouring keys; of values, neighbouring columns.
fn load_key(i: u32, head: u32, first: u32, last: u32) -> vec4<u32> {
  return keys[(head * COLUMNS + i / KEYS) * params.slots + min(first + i % KEYS, last)];
}

fn load_value(i: u32, head: u32, first: u32, last: u32) -> vec4<u32> {
  return values[(head * params.slots + min(first + i / COLUMNS, last)) * COLUMNS + i % COLUMNS];
}

fn store_key(i: u32, v: vec4<u32>) {
  let low = low_four(v);
  let high = high_four(v);
  let to = (i / KEYS * 8u * KEYS + i % KEYS) / 4u;
  let lane = i % 4u;
  tile[to][lane] = low.x; tile[to + 8u][lane] = low.y; tile[to + 16u][lane] = low.z; tile[to + 24u][lane] = low.w;
  tile[to + 32u][lane] = high.x; tile[to + 40u][lane] = high.y;
  tile[to + 48u][lane] = high.z; tile[to + 56u][lane] = high.w;
}

// write ends four columns of a token; HEAD_DIM is a multiple of 4.
fn write(token: u32, last: u32, head: u32, four: u32, v: vec4<f32>) {
  if (token <= last && 4u * four < HEAD_DIM) { out[(token * params.heads + head) * (HEAD_DIM / 4u) + four] = v; }
}

@compute @workgroup_size(ROWS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let width = state[1];
  let head = group.x;
  let first_row = group.y * ROWS;
  if (first_row >= width) { return; }
  let last = width - 1u;
  let x = thread % 8u;
  let y = thread / 8u;
  store_queries(thread, head, first_row, last);

  var key_loads: array<vec4<u32>, LOADS>;
  var value_loads: array<vec4<u32>, LOADS>;
  for (var n = 0u; n < LOADS; n++) {
    key_loads[n] = load_key(min(thread + n * ROWS, KEYS * COLUMNS - 1u), head, 0u, last);
  }

  var top_a = vec4<f32>(NOTHING); // of rows 8·y … 8·y + 3
  var top_b = vec4<f32>(NOTHING);
  var total_a = vec4<f32>();
  var total_b = vec4<f32>();
  var sums: array<vec4<f32>, SUMS>; // [four][row]
  for (var i = 0u; i < SUMS; i++) { sums[i] = vec4<f32>(); }

  for (var first = 0u; first < width; first += KEYS) {
    workgroupBarrier();
    for (var n = 0u; n < LOADS; n++) {
      let i = thread + n * ROWS;
      if (i < KEYS * COLUMNS) { store_key(i, key_loads[n]); }
    }
    workgroupBarrier();
    for (var n = 0u; n < LOADS; n++) {
      value_loads[n] = load_value(min(thread + n * ROWS, KEYS * COLUMNS - 1u), head, first, last);
    }

    // The scores of four keys: s0a has rows 8·y … 8·y + 3 of the first.
    var s0a = vec4<f32>(); var s0b = vec4<f32>();
    var s1a = vec4<f32>(); var s1b = vec4<f32>();
    var s2a = vec4<f32>(); var s2b = vec4<f32>();
    var s3a = vec4<f32>(); var s3b = vec4<f32>();
    for (var d = 0u; d < PADDED; d++) {
      let a = queries[d * ROW_FOURS + 2u * y];
      let b = queries[d * ROW_FOURS + 2u * y + 1u];
      let k = tile[d * 8u + x];
      s0a += a * k.x; s0b += b * k.x;
      s1a += a * k.y; s1b += b * k.y;
      s2a += a * k.z; s2b += b * k.z;
      s3a += a * k.w; s3b += b * k.w;
    }
    let key = first + 4u * x;
    if (key > last) { s0a = vec4<f32>(NOTHING); s0b = s0a; }
    if (key + 1u > last) { s1a = vec4<f32>(NOTHING); s1b = s1a; }
    if (key + 2u > last) { s2a = vec4<f32>(NOTHING); s2b = s2a; }
    if (key + 3u > last) { s3a = vec4<f32>(NOTHING); s3b = s3a; }

    workgroupBarrier();
    tile[x * ROW_FOURS + 2u * y] = max(max(s0a, s1a), max(s2a, s3a));
    tile[x * ROW_FOURS + 2u * y + 1u] = max(max(s0b, s1b), max(s2b, s3b));
    workgroupBarrier();
    var new_a = top_a;
    var new_b = top_b;
    for (var i = 0u; i < 8u; i++) {
      new_a = max(new_a, tile[i * ROW_FOURS + 2u * y]);
      new_b = max(new_b, tile[i * ROW_FOURS + 2u * y + 1u]);
    }
    let fade_a = exp(top_a - new_a);
    let fade_b = exp(top_b - new_b);
    top_a = new_a;
    top_b = new_b;
    // Every row has seen the first key, so that what is nothing becomes 0.
    s0a = exp(s0a - top_a); s0b = exp(s0b - top_b);
    s1a = exp(s1a - top_a); s1b = exp(s1b - top_b);
    s2a = exp(s2a - top_a); s2b = exp(s2b - top_b);
    s3a = exp(s3a - top_a); s3b = exp(s3b - top_b);
    total_a = total_a * fade_a + ((s0a + s1a) + (s2a + s3a));
    total_b = total_b * fade_b + ((s0b + s1b) + (s2b + s3b));
    let to = 4u * x * ROW_FOURS + 2u * y;
    weights[to] = s0a; weights[to + 1u] = s0b;
    weights[to + ROW_FOURS] = s1a; weights[to + ROW_FOURS + 1u] = s1b;
    weights[to + 2u * ROW_FOURS] = s2a; weights[to + 2u * ROW_FOURS + 1u] = s2b;
    weights[to + 3u * ROW_FOURS] = s3a; weights[to + 3u * ROW_FOURS + 1u] = s3b;
    workgroupBarrier();
    for (var n = 0u; n < LOADS; n++) {
      let i = thread + n * ROWS;
      if (i < KEYS * COLUMNS) {
        tile[2u * i] = low_four(value_loads[n]);
        tile[2u * i + 1u] = high_four(value_loads[n]);
      }
    }
    workgroupBarrier();
    for (var n = 0u; n < LOADS; n++) {
      key_loads[n] = load_key(min(thread + n * ROWS, KEYS * COLUMNS - 1u), head, first + KEYS, last);
    }

    for (var w = 0u; w < WIDE; w++) {
      let at = 8u * w;
      sums[at] *= fade_a.x; sums[at + 1u] *= fade_a.y; sums[at + 2u] *= fade_a.z; sums[at + 3u] *= fade_a.w;
      sums[at + 4u] *= fade_b.x; sums[at + 5u] *= fade_b.y; sums[at + 6u] *= fade_b.z; sums[at + 7u] *= fade_b.w;
    }
    for (var k = 0u; k < KEYS; k++) {
      let a = weights[k * ROW_FOURS + 2u * y];
      let b = weights[k * ROW_FOURS + 2u * y + 1u];
      for (var w = 0u; w < WIDE; w++) {
        let v = tile[k * FOURS + min(x + 8u * w, FOURS - 1u)];
        let at = 8u * w;
        sums[at] += v * a.x; sums[at + 1u] += v * a.y; sums[at + 2u] += v * a.z; sums[at + 3u] += v * a.w;
        sums[at + 4u] += v * b.x; sums[at + 5u] += v * b.y; sums[at + 6u] += v * b.z; sums[at + 7u] += v * b.w;
      }
    }
  }

  workgroupBarrier();
  tile[x * ROW_FOURS + 2u * y] = total_a;
  tile[x * ROW_FOURS + 2u * y + 1u] = total_b;
  workgroupBarrier();
  total_a = vec4<f32>();
  total_b = vec4<f32>();
  for (var i = 0u; i < 8u; i++) {
    total_a += tile[i * ROW_FOURS + 2u * y];
    total_b += tile[i * ROW_FOURS + 2u * y + 1u];
  }
  let token = first_row + 8u * y;
  for (var w = 0u; w < WIDE; w++) {
    let four = x + 8u * w;
    let at = 8u * w;
    write(token, last, head, four, sums[at] / total_a.x);
    write(token + 1u, last, head, four, sums[at + 1u] / total_a.y);
    write(token + 2u, last, head, four, sums[at + 2u] / total_a.z);
    write(token + 3u, last, head, four, sums[at + 3u] / total_a.w);
    write(token + 4u, last, head, four, sums[at + 4u] / total_b.x);
    write(token + 5u, last, head, four, sums[at + 5u] / total_b.y);
    write(token + 6u, last, head, four, sums[at + 6u] / total_b.z);
    write(token + 7u, last, head, four, sums[at + 7u] / total_b.w);
  }
}

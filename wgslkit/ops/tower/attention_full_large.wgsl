// attention_full.wgsl in larger tiles, for devices that have the workgroup memory
// and the registers.
//
// A workgroup of 128 threads takes 64 tokens of one head and walks over all keys,
// 64 at a time. Thread x + 16·y has the rows 8·y … 8·y + 7; of the scores the keys
// 4·x … 4·x + 3; of the sums the fours of columns x, x + 16 …, WIDE of them. Tiles
// of twice the size for each thread take fewer loads and leave a large GPU with too
// few threads to hide any.
//
// Grid: x = heads, y = tiles of 64 tokens.

struct Params { heads: u32, slots: u32 }

@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read> q: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> keys: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> cached: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> out: array<vec4<f32>>;
@group(0) @binding(5) var<uniform> params: Params;

const COLUMNS: u32 = (HEAD_DIM + 7u) / 8u; // vectors of 8 of a head
const FOURS: u32 = 2u * COLUMNS;           // vectors of 4
const NOTHING: f32 = -1e30;
const LOG2E: f32 = 1.4426950408889634;

// Indices that are numbers need no check of their bounds, which most compilers of
// WGSL put before every other: eights are written out below.
var<workgroup> queries: array<array<array<vec4<f32>, 16>, 8>, COLUMNS>; // [column][row], times log₂ e
// A tile of keys, [column][key], and then of weights, [key][row], whose fours of
// rows stand where the key says (place), so that threads write to different banks.
var<workgroup> tile: array<array<array<vec4<f32>, 16>, 8>, TILE>;
var<workgroup> values: array<array<array<vec2<u32>, FOURS>, 8>, 8>;     // [key][column], in f16
var<workgroup> tops: array<array<vec4<f32>, 16>, 16>;                   // [16 threads][row]

var<private> scores: array<vec4<f32>, 8>;  // [4 keys][8 rows]
var<private> sums: array<vec4<f32>, SUMS>; // [fours of columns][8 rows]

fn four_halves(v: vec2<u32>) -> vec4<f32> { return vec4<f32>(unpack2x16float(v.x), unpack2x16float(v.y)); }

// place is where a four of rows of a key's weights stands.
fn place(four: u32, key: u32) -> u32 { return four ^ ((key / 4u) & 7u); }

// store_queries puts every second eight of a token's columns into memory.
fn store_queries(row: u32, half: u32, head: u32, token: u32) {
  let at = (token * params.heads + head) * FOURS;
  let to = row / 4u;
  let lane = row % 4u;
  for (var c = half; c < COLUMNS; c += 2u) {
    let low = q[at + 2u * c] * LOG2E;
    let high = q[at + 2u * c + 1u] * LOG2E;
    queries[c][0][to][lane] = low.x; queries[c][1][to][lane] = low.y;
    queries[c][2][to][lane] = low.z; queries[c][3][to][lane] = low.w;
    queries[c][4][to][lane] = high.x; queries[c][5][to][lane] = high.y;
    queries[c][6][to][lane] = high.z; queries[c][7][to][lane] = high.w;
  }
}

// load_key is 8 columns of one key, load_value one of the values' vectors by number.
fn load_key(c: u32, thread: u32, head: u32, first: u32, last: u32) -> vec4<u32> {
  return keys[(head * COLUMNS + c) * params.slots + min(first + thread, last)];
}

fn load_value(i: u32, head: u32, first: u32, last: u32) -> vec4<u32> {
  return cached[(head * params.slots + min(first + i / COLUMNS, last)) * COLUMNS + i % COLUMNS];
}

fn store_key(c: u32, thread: u32, v: vec4<u32>) {
  let low = four_halves(v.xy);
  let high = four_halves(v.zw);
  let to = thread / 4u;
  let lane = thread % 4u;
  tile[c][0][to][lane] = low.x; tile[c][1][to][lane] = low.y;
  tile[c][2][to][lane] = low.z; tile[c][3][to][lane] = low.w;
  tile[c][4][to][lane] = high.x; tile[c][5][to][lane] = high.y;
  tile[c][6][to][lane] = high.z; tile[c][7][to][lane] = high.w;
}

fn store_value(i: u32, v: vec4<u32>) {
  let key = i / COLUMNS;
  let four = 2u * (i % COLUMNS);
  values[key / 8u][key % 8u][four] = v.xy;
  values[key / 8u][key % 8u][four + 1u] = v.zw;
}

// add_scores adds the products of a column: a and b of 8 rows, k of 4 keys.
fn add_scores(a: vec4<f32>, b: vec4<f32>, k: vec4<f32>) {
  scores[0] += a * k.x; scores[1] += b * k.x;
  scores[2] += a * k.y; scores[3] += b * k.y;
  scores[4] += a * k.z; scores[5] += b * k.z;
  scores[6] += a * k.w; scores[7] += b * k.w;
}

fn find_scores(x: u32, y: u32) {
  scores[0] = vec4<f32>(); scores[1] = vec4<f32>(); scores[2] = vec4<f32>(); scores[3] = vec4<f32>();
  scores[4] = vec4<f32>(); scores[5] = vec4<f32>(); scores[6] = vec4<f32>(); scores[7] = vec4<f32>();
  let ya = 2u * y;
  for (var c = 0u; c < COLUMNS; c++) {
    add_scores(queries[c][0][ya], queries[c][0][ya + 1u], tile[c][0][x]);
    add_scores(queries[c][1][ya], queries[c][1][ya + 1u], tile[c][1][x]);
    add_scores(queries[c][2][ya], queries[c][2][ya + 1u], tile[c][2][x]);
    add_scores(queries[c][3][ya], queries[c][3][ya + 1u], tile[c][3][x]);
    add_scores(queries[c][4][ya], queries[c][4][ya + 1u], tile[c][4][x]);
    add_scores(queries[c][5][ya], queries[c][5][ya + 1u], tile[c][5][x]);
    add_scores(queries[c][6][ya], queries[c][6][ya + 1u], tile[c][6][x]);
    add_scores(queries[c][7][ya], queries[c][7][ya + 1u], tile[c][7][x]);
  }
}

// hide makes nothing of the scores of keys beyond the last; key is the first.
fn hide(key: u32, last: u32) {
  if (key > last) { scores[0] = vec4<f32>(NOTHING); scores[1] = vec4<f32>(NOTHING); }
  if (key + 1u > last) { scores[2] = vec4<f32>(NOTHING); scores[3] = vec4<f32>(NOTHING); }
  if (key + 2u > last) { scores[4] = vec4<f32>(NOTHING); scores[5] = vec4<f32>(NOTHING); }
  if (key + 3u > last) { scores[6] = vec4<f32>(NOTHING); scores[7] = vec4<f32>(NOTHING); }
}

// store_weights puts four keys' weights into memory.
fn store_weights(
  key: u32, y: u32, a0: vec4<f32>, b0: vec4<f32>, a1: vec4<f32>, b1: vec4<f32>, a2: vec4<f32>, b2: vec4<f32>,
  a3: vec4<f32>, b3: vec4<f32>,
) {
  let c = key / 8u;
  let i = key % 8u;
  let a = place(2u * y, key);
  let b = place(2u * y + 1u, key);
  tile[c][i][a] = a0; tile[c][i][b] = b0;
  tile[c][i + 1u][a] = a1; tile[c][i + 1u][b] = b1;
  tile[c][i + 2u][a] = a2; tile[c][i + 2u][b] = b2;
  tile[c][i + 3u][a] = a3; tile[c][i + 3u][b] = b3;
}

// add_values adds a key's values by its weights for 8 rows.
fn add_values(a: vec4<f32>, b: vec4<f32>, c: u32, i: u32, x: u32) {
  let v = four_halves(values[c][i][min(x, FOURS - 1u)]);
  sums[0] += v * a.x; sums[1] += v * a.y; sums[2] += v * a.z; sums[3] += v * a.w;
  sums[4] += v * b.x; sums[5] += v * b.y; sums[6] += v * b.z; sums[7] += v * b.w;
//#if WIDE != 1
  let v1 = four_halves(values[c][i][min(x + 16u, FOURS - 1u)]);
  sums[8] += v1 * a.x; sums[9] += v1 * a.y; sums[10] += v1 * a.z; sums[11] += v1 * a.w;
  sums[12] += v1 * b.x; sums[13] += v1 * b.y; sums[14] += v1 * b.z; sums[15] += v1 * b.w;
//#end
}

fn fade(fade_a: vec4<f32>, fade_b: vec4<f32>) {
  sums[0] *= fade_a.x; sums[1] *= fade_a.y; sums[2] *= fade_a.z; sums[3] *= fade_a.w;
  sums[4] *= fade_b.x; sums[5] *= fade_b.y; sums[6] *= fade_b.z; sums[7] *= fade_b.w;
//#if WIDE != 1
  sums[8] *= fade_a.x; sums[9] *= fade_a.y; sums[10] *= fade_a.z; sums[11] *= fade_a.w;
  sums[12] *= fade_b.x; sums[13] *= fade_b.y; sums[14] *= fade_b.z; sums[15] *= fade_b.w;
//#end
}

// write ends four columns of a token; HEAD_DIM is a multiple of 4.
fn write(token: u32, last: u32, head: u32, four: u32, v: vec4<f32>) {
  if (token <= last && 4u * four < HEAD_DIM) { out[(token * params.heads + head) * (HEAD_DIM / 4u) + four] = v; }
}

fn write_sums(token: u32, last: u32, head: u32, x: u32, one_a: vec4<f32>, one_b: vec4<f32>) {
  var four = x;
  write(token, last, head, four, sums[0] * one_a.x);
  write(token + 1u, last, head, four, sums[1] * one_a.y);
  write(token + 2u, last, head, four, sums[2] * one_a.z);
  write(token + 3u, last, head, four, sums[3] * one_a.w);
  write(token + 4u, last, head, four, sums[4] * one_b.x);
  write(token + 5u, last, head, four, sums[5] * one_b.y);
  write(token + 6u, last, head, four, sums[6] * one_b.z);
  write(token + 7u, last, head, four, sums[7] * one_b.w);
//#if WIDE != 1
  four += 16u;
  write(token, last, head, four, sums[8] * one_a.x);
  write(token + 1u, last, head, four, sums[9] * one_a.y);
  write(token + 2u, last, head, four, sums[10] * one_a.z);
  write(token + 3u, last, head, four, sums[11] * one_a.w);
  write(token + 4u, last, head, four, sums[12] * one_b.x);
  write(token + 5u, last, head, four, sums[13] * one_b.y);
  write(token + 6u, last, head, four, sums[14] * one_b.z);
  write(token + 7u, last, head, four, sums[15] * one_b.w);
//#end
}

@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let width = state[1];
  let head = group.x;
  let first_row = group.y * 64u;
  if (first_row >= width) { return; }
  let last = width - 1u;
  let x = thread % 16u;
  let y = thread / 16u;
  let ya = 2u * y;
  store_queries(thread % 64u, thread / 64u, head, min(first_row + thread % 64u, last));

  var top_a = vec4<f32>(NOTHING); // of rows 8·y … 8·y + 3
  var top_b = vec4<f32>(NOTHING);
  var total_a = vec4<f32>();
  var total_b = vec4<f32>();
  for (var first = 0u; first < width; first += 64u) {
    workgroupBarrier();
    for (var c = thread / 64u; c < COLUMNS; c += 2u) {
      store_key(c, thread % 64u, load_key(c, thread % 64u, head, first, last));
    }
    for (var i = thread; i < 64u * COLUMNS; i += 128u) { store_value(i, load_value(i, head, first, last)); }
    workgroupBarrier();
    find_scores(x, y);
    if (first + 63u > last) { hide(first + 4u * x, last); }

    var new_a = max(max(scores[0], scores[2]), max(scores[4], scores[6]));
    var new_b = max(max(scores[1], scores[3]), max(scores[5], scores[7]));
    tops[x][ya] = new_a;
    tops[x][ya + 1u] = new_b;
    workgroupBarrier(); // the keys have been read, too
    new_a = top_a;
    new_b = top_b;
    for (var i = 0u; i < 16u; i++) {
      new_a = max(new_a, tops[i][ya]);
      new_b = max(new_b, tops[i][ya + 1u]);
    }
    let fade_a = exp2(top_a - new_a);
    let fade_b = exp2(top_b - new_b);
    top_a = new_a;
    top_b = new_b;
    total_a *= fade_a;
    total_b *= fade_b;
    // Every row has seen the first key, so that what is nothing becomes 0.
    let e0a = exp2(scores[0] - top_a); let e0b = exp2(scores[1] - top_b);
    let e1a = exp2(scores[2] - top_a); let e1b = exp2(scores[3] - top_b);
    let e2a = exp2(scores[4] - top_a); let e2b = exp2(scores[5] - top_b);
    let e3a = exp2(scores[6] - top_a); let e3b = exp2(scores[7] - top_b);
    total_a += (e0a + e1a) + (e2a + e3a);
    total_b += (e0b + e1b) + (e2b + e3b);
    store_weights(4u * x, y, e0a, e0b, e1a, e1b, e2a, e2b, e3a, e3b);
    workgroupBarrier();
    fade(fade_a, fade_b);
    for (var c = 0u; c < 8u; c++) {
      let ga = place(ya, 8u * c);
      let gb = place(ya + 1u, 8u * c); // place(ya, 8c + 4)
      add_values(tile[c][0][ga], tile[c][0][gb], c, 0u, x);
      add_values(tile[c][1][ga], tile[c][1][gb], c, 1u, x);
      add_values(tile[c][2][ga], tile[c][2][gb], c, 2u, x);
      add_values(tile[c][3][ga], tile[c][3][gb], c, 3u, x);
      add_values(tile[c][4][gb], tile[c][4][ga], c, 4u, x);
      add_values(tile[c][5][gb], tile[c][5][ga], c, 5u, x);
      add_values(tile[c][6][gb], tile[c][6][ga], c, 6u, x);
      add_values(tile[c][7][gb], tile[c][7][ga], c, 7u, x);
    }
  }

  tops[x][ya] = total_a;
  tops[x][ya + 1u] = total_b;
  workgroupBarrier();
  total_a = vec4<f32>();
  total_b = vec4<f32>();
  for (var i = 0u; i < 16u; i++) {
    total_a += tops[i][ya];
    total_b += tops[i][ya + 1u];
  }
  write_sums(first_row + 8u * y, last, head, x, 1.0 / total_a, 1.0 / total_b);
}

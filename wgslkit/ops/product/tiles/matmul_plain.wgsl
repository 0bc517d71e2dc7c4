// matmul_large.wgsl for weights that are plain numbers: f16, bf16 or f32.
//
// A workgroup of 128 threads makes a tile of 128 rows × 64 tokens, 16 columns of it
// at a time, which it puts into memory, [column][rows, tokens]. Each 32 threads
// make 64 rows by 32 tokens of it, each thread 4 rows and 4 that are 32 further
// by 4 tokens and 4 that are 16 further: a square of 8 × 4 threads shares its loads
// most. Each thread reads 16 columns of a row and 8 of a token; the next ones are
// under way while these are multiplied.
//
// Where SPLIT, workgroups of neighbouring z share the columns, and leave their
// sums for matmul_sum.wgsl: out[z][token][row], with room for `capacity` tokens.
// Where LOW_RANK, the columns of low_rank.wgsl follow, in the first split.
//
// Grid: x = tiles of rows, y = tiles of tokens, z = splits.

//#include "large_tiles.wgsl"

const TOKENS: u32 = 64u; // of a tile

// Indices that are numbers need no check of their bounds: most compilers of WGSL
// put one before every other.
var<workgroup> tiles: array<array<array<Four, 48>, 8>, 2>; // [16 columns][128 rows, 64 tokens]

// Place is where a thread's rows and tokens are: fours of the tile, and 8 and 4
// further. Threads that run together share their loads most where they make a
// square.
struct Place { rows: u32, tokens: u32 }

fn place_of(thread: u32) -> Place {
  let group = thread >> 5u;
  return Place((group & 1u) * 16u + (thread & 7u), 32u + (group >> 1u) * 8u + ((thread >> 3u) & 3u));
}

// multiply adds the products of the 16 columns in memory.
fn multiply(at: Place) {
  let r = at.rows;
  let t = at.tokens;
  add(tiles[0][0][r], tiles[0][0][r + 8u], tiles[0][0][t], tiles[0][0][t + 4u]);
  add(tiles[0][1][r], tiles[0][1][r + 8u], tiles[0][1][t], tiles[0][1][t + 4u]);
  add(tiles[0][2][r], tiles[0][2][r + 8u], tiles[0][2][t], tiles[0][2][t + 4u]);
  add(tiles[0][3][r], tiles[0][3][r + 8u], tiles[0][3][t], tiles[0][3][t + 4u]);
  add(tiles[0][4][r], tiles[0][4][r + 8u], tiles[0][4][t], tiles[0][4][t + 4u]);
  add(tiles[0][5][r], tiles[0][5][r + 8u], tiles[0][5][t], tiles[0][5][t + 4u]);
  add(tiles[0][6][r], tiles[0][6][r + 8u], tiles[0][6][t], tiles[0][6][t + 4u]);
  add(tiles[0][7][r], tiles[0][7][r + 8u], tiles[0][7][t], tiles[0][7][t + 4u]);
  add(tiles[1][0][r], tiles[1][0][r + 8u], tiles[1][0][t], tiles[1][0][t + 4u]);
  add(tiles[1][1][r], tiles[1][1][r + 8u], tiles[1][1][t], tiles[1][1][t + 4u]);
  add(tiles[1][2][r], tiles[1][2][r + 8u], tiles[1][2][t], tiles[1][2][t + 4u]);
  add(tiles[1][3][r], tiles[1][3][r + 8u], tiles[1][3][t], tiles[1][3][t + 4u]);
  add(tiles[1][4][r], tiles[1][4][r + 8u], tiles[1][4][t], tiles[1][4][t + 4u]);
  add(tiles[1][5][r], tiles[1][5][r + 8u], tiles[1][5][t], tiles[1][5][t + 4u]);
  add(tiles[1][6][r], tiles[1][6][r + 8u], tiles[1][6][t], tiles[1][6][t + 4u]);
  add(tiles[1][7][r], tiles[1][7][r + 8u], tiles[1][7][t], tiles[1][7][t + 4u]);
}

// write ends rows r … r+3 and r+32 … r+35 of token t.
fn write(t: u32, r: u32, sums: vec4<f32>, more: vec4<f32>, split: u32) {
  if (t >= state[1]) { return; }
  let a = unscaled(t, sums);
  let b = unscaled(t, more);
//#if SPLIT
  let to = ((split * params.capacity + t) * params.rows + r) / 4u;
  if (r < params.rows) { out[to] = a; }
  if (r + 32u < params.rows) { out[to + 8u] = b; }
//#else
  if (r < params.rows) { finish_four(t, params.first + r, a); }
  if (r + 32u < params.rows) { finish_four(t, params.first + r + 32u, b); }
//#end
}

// Raw is what a thread has of a unit: 16 columns of a row as they lie there, and
// eight of a token.
struct Raw {
  w: vec4<u32>, w2: vec4<u32>,
//#if QUANT == f32
  w3: vec4<u32>, w4: vec4<u32>,
//#end
  p: Four, q: Four,
}

// raw reads it; row and token are where the thread's begin.
fn raw(row: u32, token: u32, unit: u32) -> Raw {
  let at = token + 4u * unit;
//#if QUANT == f32
  let from_row = row + 4u * unit;
//#else
  let from_row = row + 2u * unit;
//#end
  return Raw(
    weights[from_row], weights[from_row + 1u],
//#if QUANT == f32
    weights[from_row + 2u], weights[from_row + 3u],
//#end
    x[at], x[at + 1u]);
}

//#if QUANT == f16
fn fours(v: vec2<u32>) -> vec4<f32> { return vec4<f32>(unpack2x16float(v.x), unpack2x16float(v.y)); }
//#end
//#if QUANT == bf16
fn fours(v: vec2<u32>) -> vec4<f32> { return upper(v.x, v.y); }
//#end

// put writes eight columns of a row or a token.
fn put(h: u32, i: u32, v: vec4<f32>, more: vec4<f32>) {
  let to = i >> 2u;
  let c = i & 3u;
  let a = Four(v);
  let b = Four(more);
  tiles[h][0][to][c] = a.x; tiles[h][1][to][c] = a.y; tiles[h][2][to][c] = a.z; tiles[h][3][to][c] = a.w;
  tiles[h][4][to][c] = b.x; tiles[h][5][to][c] = b.y; tiles[h][6][to][c] = b.z; tiles[h][7][to][c] = b.w;
}

// store puts it into memory.
fn store(v: Raw, thread: u32) {
  put(thread / TOKENS, 128u + thread % TOKENS, input_of(v.p), input_of(v.q));
//#if QUANT == f32
  put(0u, thread, bitcast<vec4<f32>>(v.w), bitcast<vec4<f32>>(v.w2));
  put(1u, thread, bitcast<vec4<f32>>(v.w3), bitcast<vec4<f32>>(v.w4));
//#else
  put(0u, thread, fours(v.w.xy), fours(v.w.zw));
  put(1u, thread, fours(v.w2.xy), fours(v.w2.zw));
//#end
}

fn sum_units(workgroup: vec3<u32>, thread: u32, begin: u32, end: u32) {
  let at = place_of(thread);
  // What rows and tokens beyond the last get is not used.
  let row = min(workgroup.x * 128u + thread, params.rows - 1u) * params.row_size;
  let token = token_at(min(workgroup.y * TOKENS + thread % TOKENS, state[1] - 1u)) + thread / TOKENS * 2u;
  var next = raw(row, token, begin);
  for (var unit = begin; unit < end; unit++) {
    workgroupBarrier();
    store(next, thread);
    workgroupBarrier();
    next = raw(row, token, min(unit + 1u, params.units - 1u));
    multiply(at);
  }
}

//#if LOW_RANK
// sum_low adds what low_rank.wgsl says, 16 columns of u at a time.
fn sum_low(workgroup: vec3<u32>, thread: u32) {
  let at = place_of(thread);
  let row = low_row(params.first + min(workgroup.x * 128u + thread, params.rows - 1u));
  let token = min(workgroup.y * TOKENS + thread % TOKENS, state[1] - 1u);
  let side = thread / TOKENS;
  for (var k = 0u; k < params.low.stride; k += 4u) {
    workgroupBarrier();
    put(side, 128u + thread % TOKENS, low_inputs(token, k + 2u * side), low_inputs(token, k + 2u * side + 1u));
    put(0u, thread, low_four(row, k), low_four(row, k + 1u));
    put(1u, thread, low_four(row, k + 2u), low_four(row, k + 3u));
    workgroupBarrier();
    multiply(at);
  }
}
//#end

@compute @workgroup_size(128)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  if (workgroup.y * TOKENS >= state[1]) { return; }
  sum_units(workgroup, thread, workgroup.z * params.units / params.splits,
    (workgroup.z + 1u) * params.units / params.splits);
//#if LOW_RANK
  if (workgroup.z == 0u) { sum_low(workgroup, thread); }
//#end
  let at = place_of(thread);
  let t = workgroup.y * TOKENS + (at.tokens - 32u) * 4u;
  let r = workgroup.x * 128u + at.rows * 4u;
  write(t, r, acc[0], acc[1], workgroup.z);
  write(t + 1u, r, acc[2], acc[3], workgroup.z);
  write(t + 2u, r, acc[4], acc[5], workgroup.z);
  write(t + 3u, r, acc[6], acc[7], workgroup.z);
  write(t + 16u, r, acc[8], acc[9], workgroup.z);
  write(t + 17u, r, acc[10], acc[11], workgroup.z);
  write(t + 18u, r, acc[12], acc[13], workgroup.z);
  write(t + 19u, r, acc[14], acc[15], workgroup.z);
}

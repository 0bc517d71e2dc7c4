// What products with chosen experts hand back to each pair p = t·slots + slot, in tiles
// of pairs that one expert was chosen for (expert_groups.wgsl):
//
//   out[p, c] = Σ_r W[e·rows + r, c]·dy[t, r], or where PER_SLOT dy[p, r]
//
// or where ADD out[p, c] += it. A tile of W may hold a part of the experts; what an
// earlier tile left of an expert is added to.
//
// A workgroup makes a tile of 128 columns × 64 pairs (back_tile.wgsl).
//
// Grid: x = tiles of columns, y = tiles of pairs, as many as there can be.

struct Params {
  rows: u32, // of one expert
  first: u32, // the tile of W's first row of all
  tile_rows: u32,
  cols: u32,

  units: u32,
  row_size: u32,
  plane1: u32,
  plane2: u32,

  slots: u32, // pairs to a row of dy: 1 where PER_SLOT
//#if CODEBOOK
  codebook: array<vec4<u32>, CODEBOOK>,
//#end
}

@group(0) @binding(0) var<storage, read> tiles: array<vec4<u32>>; // (expert, first, count, 0)
@group(0) @binding(1) var<storage, read> pairs: array<u32>;
@group(0) @binding(2) var<storage, read> weights: array<vec4<u32>>;
//#if ALIGNED
@group(0) @binding(3) var<storage, read> dy: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read_write> out: array<vec4<f32>>;
//#else
@group(0) @binding(3) var<storage, read> dy: array<f32>;
@group(0) @binding(4) var<storage, read_write> out: array<f32>;
//#end
@group(0) @binding(5) var<uniform> params: Params;

//#include "weights/unit.wgsl"
//#include "back_tile.wgsl"

// Held is the rows of a tile's expert that are in the tile of W: from begin up to,
// but not with, end, of the expert's own; origin is where its row 0 lies, which wraps
// before the tile.
struct Held { begin: u32, end: u32, origin: u32 }

fn held(expert: u32) -> Held {
  let row = expert * params.rows;
  let begin = clamp(params.first, row, row + params.rows) - row;
  let end = clamp(params.first + params.tile_rows, row, row + params.rows) - row;
  return Held(begin, end, row - params.first);
}

// unit_of decodes unit number i of the 16 rows from `row` on.
fn unit_of(i: u32, row: u32, h: Held, first_unit: u32) -> Unit {
  let r = min(row + i / TILE_UNITS, h.end - 1u);
  return decode((h.origin + r) * params.row_size, min(first_unit + i % TILE_UNITS, params.units - 1u));
}

// grads_of is dy of four rows of one pair, with zeros beyond those that are held; i
// counts them. What pairs beyond the last get is not used.
fn grads_of(i: u32, first_row: u32, h: Held, tile: vec4<u32>) -> vec4<f32> {
  let row = first_row + i % 4u * 4u;
  let at = pairs[tile.y + min(i / 4u, tile.z - 1u)] / params.slots * params.rows + row;
//#if ALIGNED
  if (row < h.end) { return dy[at / 4u]; }
  return vec4<f32>();
//#else
  var v = vec4<f32>();
  if (row < h.end) { v.x = dy[at]; }
  if (row + 1u < h.end) { v.y = dy[at + 1u]; }
  if (row + 2u < h.end) { v.z = dy[at + 2u]; }
  if (row + 3u < h.end) { v.w = dy[at + 3u]; }
  return v;
//#end
}

//#if ALIGNED
fn write4(at: u32, column: u32, v: vec4<f32>, add: bool) {
  if (column >= params.cols) { return; }
  if (add) { out[(at + column) / 4u] += v; } else { out[(at + column) / 4u] = v; }
}
//#else
fn write1(at: u32, column: u32, v: f32, add: bool) {
  if (column >= params.cols) { return; }
  if (add) { out[at + column] += v; } else { out[at + column] = v; }
}

fn write4(at: u32, column: u32, v: vec4<f32>, add: bool) {
  write1(at, column, v.x, add);
  write1(at, column + 1u, v.y, add);
  write1(at, column + 2u, v.z, add);
  write1(at, column + 3u, v.w, add);
}
//#end

// write8 ends the columns c … c+3 and c+64 … c+67 of the tile's i-th pair.
fn write8(tile: vec4<u32>, i: u32, c: u32, a: vec4<f32>, b: vec4<f32>, add: bool) {
  if (i >= tile.z) { return; }
  let at = pairs[tile.y + i] * params.cols;
  write4(at, c, a, add);
  write4(at, c + 64u, b, add);
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let tile = tiles[workgroup.y];
  let h = held(tile.x);
  if (tile.z == 0u || h.begin == h.end) { return; }
  let first_unit = workgroup.x * TILE_UNITS;
  let x = thread % 16u;
  let y = thread / 16u;
  for (var row = h.begin; row < h.end; row += 16u) {
    workgroupBarrier();
    for (var i = thread; i < 16u * TILE_UNITS; i += THREADS) {
      store_unit(i, unit_of(i, row, h, first_unit), row + i / TILE_UNITS < h.end, first_unit);
    }
    for (var i = thread; i < 4u * TOKENS; i += THREADS) { store_grads(i, grads_of(i, row, h, tile)); }
    workgroupBarrier();
    multiply(x, y);
  }
  let add = ADD || h.begin > 0u;
  let t = y * 4u;
  let c = workgroup.x * 128u + x * 4u;
  let far = TOKENS / 2u;
  write8(tile, t, c, acc[0], acc[1], add);
  write8(tile, t + 1u, c, acc[2], acc[3], add);
  write8(tile, t + 2u, c, acc[4], acc[5], add);
  write8(tile, t + 3u, c, acc[6], acc[7], add);
  write8(tile, t + far, c, acc[8], acc[9], add);
  write8(tile, t + far + 1u, c, acc[10], acc[11], add);
  write8(tile, t + far + 2u, c, acc[12], acc[13], add);
  write8(tile, t + far + 3u, c, acc[14], acc[15], add);
}

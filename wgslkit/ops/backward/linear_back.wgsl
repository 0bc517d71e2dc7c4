// out[t, c] = Σ_r dy[t, r]·W[r, c], or where ADD out[t, c] += it: what a product
// with W hands back to its input. W is read as it is quantized.
//
// A workgroup makes a tile of 128 columns × TOKENS tokens (back_tile.wgsl).
//
// Where SPLIT, workgroups of neighbouring z share the rows and leave their sums
// for sum_splits.wgsl: out[z][token][column], with room for `capacity` tokens.
//
// Grid: x = tiles of columns, y = tiles of tokens, z = splits.

struct Params {
  rows: u32, // of the tile of W
  first: u32, // its first row, too
  cols: u32,
  units: u32, // in a row

  row_size: u32,
  plane1: u32,
  plane2: u32,
  splits: u32,

  dy_offset: u32,
  dy_stride: u32,
  out_offset: u32,
  out_stride: u32,

  capacity: u32,
//#if CODEBOOK
  codebook: array<vec4<u32>, CODEBOOK>,
//#end
}

@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read> weights: array<vec4<u32>>;
//#if ALIGNED
@group(0) @binding(2) var<storage, read> dy: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> out: array<vec4<f32>>;
//#else
@group(0) @binding(2) var<storage, read> dy: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;
//#end
@group(0) @binding(4) var<uniform> params: Params;

//#include "weights/unit.wgsl"

//#include "back_tile.wgsl"

// unit_of decodes unit number i of the 16 rows from `row` on.
fn unit_of(i: u32, row: u32, first_unit: u32) -> Unit {
  let r = min(row + i / TILE_UNITS, params.rows - 1u);
  return decode(r * params.row_size, min(first_unit + i % TILE_UNITS, params.units - 1u));
}

// exists says whether the row of unit number i of the 16 rows from `row` on exists.
fn exists(i: u32, row: u32) -> bool { return row + i / TILE_UNITS < params.rows; }

// four_grads is dy of four rows of a token, with zeros beyond the tile's rows.
fn four_grads(t: u32, row: u32) -> vec4<f32> {
  let at = t * params.dy_stride + params.dy_offset + params.first + row;
//#if ALIGNED
  if (row < params.rows) { return dy[at / 4u]; }
  return vec4<f32>();
//#else
  var v = vec4<f32>();
  if (row < params.rows) { v.x = dy[at]; }
  if (row + 1u < params.rows) { v.y = dy[at + 1u]; }
  if (row + 2u < params.rows) { v.z = dy[at + 2u]; }
  if (row + 3u < params.rows) { v.w = dy[at + 3u]; }
  return v;
//#end
}

// grads_of is four rows' dy of one token; i counts them. What tokens beyond the
// last get is not used.
fn grads_of(i: u32, row: u32, first_token: u32) -> vec4<f32> {
  return four_grads(min(first_token + i / 4u, state[1] - 1u), row + i % 4u * 4u);
}

//#if ALIGNED
fn write4(at: u32, column: u32, v: vec4<f32>) {
  if (column >= params.cols) { return; }
//#if ADD
  out[(at + column) / 4u] += v;
//#else
  out[(at + column) / 4u] = v;
//#end
}
//#else
fn write1(at: u32, column: u32, v: f32) {
  if (column >= params.cols) { return; }
//#if ADD
  out[at + column] += v;
//#else
  out[at + column] = v;
//#end
}

fn write4(at: u32, column: u32, v: vec4<f32>) {
  write1(at, column, v.x);
  write1(at, column + 1u, v.y);
  write1(at, column + 2u, v.z);
  write1(at, column + 3u, v.w);
}
//#end

// write8 ends the columns c … c+3 and c+64 … c+67 of token t.
fn write8(t: u32, c: u32, a: vec4<f32>, b: vec4<f32>, split: u32) {
  if (t >= state[1]) { return; }
//#if SPLIT
  let at = (split * params.capacity + t) * params.cols;
//#else
  let at = t * params.out_stride + params.out_offset;
//#end
  write4(at, c, a);
  write4(at, c + 64u, b);
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let first_token = workgroup.y * TOKENS;
  let first_unit = workgroup.x * TILE_UNITS;
  let x = thread % 16u;
  let y = thread / 16u;
  let steps = (params.rows + 15u) / 16u;
  let begin = workgroup.z * steps / params.splits;
  let end = (workgroup.z + 1u) * steps / params.splits;
//#if AHEAD
  // What the next 16 rows need is under way while these are multiplied.
  var unit = unit_of(thread, begin * 16u, first_unit);
  var near = grads_of(thread, begin * 16u, first_token);
  var far_off = grads_of(thread + THREADS, begin * 16u, first_token);
  for (var step = begin; step < end; step++) {
    workgroupBarrier();
    if (thread < 16u * TILE_UNITS) { store_unit(thread, unit, exists(thread, step * 16u), first_unit); }
    store_grads(thread, near);
    store_grads(thread + THREADS, far_off);
    workgroupBarrier();
    if (thread < 16u * TILE_UNITS) { unit = unit_of(thread, step * 16u + 16u, first_unit); }
    near = grads_of(thread, step * 16u + 16u, first_token);
    far_off = grads_of(thread + THREADS, step * 16u + 16u, first_token);
    multiply(x, y);
  }
//#else
  for (var step = begin; step < end; step++) {
    workgroupBarrier();
    for (var i = thread; i < 16u * TILE_UNITS; i += THREADS) {
      store_unit(i, unit_of(i, step * 16u, first_unit), exists(i, step * 16u), first_unit);
    }
    for (var i = thread; i < 4u * TOKENS; i += THREADS) { store_grads(i, grads_of(i, step * 16u, first_token)); }
    workgroupBarrier();
    multiply(x, y);
  }
//#end
  let t = first_token + y * 4u;
  let c = workgroup.x * 128u + x * 4u;
  let far = TOKENS / 2u;
  write8(t, c, acc[0], acc[1], workgroup.z);
  write8(t + 1u, c, acc[2], acc[3], workgroup.z);
  write8(t + 2u, c, acc[4], acc[5], workgroup.z);
  write8(t + 3u, c, acc[6], acc[7], workgroup.z);
  write8(t + far, c, acc[8], acc[9], workgroup.z);
  write8(t + far + 1u, c, acc[10], acc[11], workgroup.z);
  write8(t + far + 2u, c, acc[12], acc[13], workgroup.z);
  write8(t + far + 3u, c, acc[14], acc[15], workgroup.z);
}

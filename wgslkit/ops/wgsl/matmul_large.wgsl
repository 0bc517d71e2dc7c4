// out[t, r] = W[r]·x[t], or with GATED act(W[2r]·x) · (W[2r+1]·x), then what
// activation.wgsl names and `mul`: matmul.wgsl in larger tiles, for as many rows
// and tokens as fill a large GPU with them.
//
// A workgroup of 16 × 16 threads makes a tile of 128 rows × 128 tokens. For each
// unit, threads 0–127 decode a row each and the others read a token each; span
// by span they put 16 columns of it into memory, [column][row] and
// [column][token]. What the next unit needs is under way while this one is
// multiplied. Thread x + 16·y makes the rows 4x … 4x+3 and 64 more, by the tokens
// 4y … 4y+3 and 64 more.
//
// Where SPLIT, workgroups of neighbouring z share the columns, and leave their
// sums for matmul_sum.wgsl: out[z][token][row], with room for `capacity` tokens.
//
// Grid: x = tiles of rows, y = tiles of tokens, z = splits.

struct Params {
  rows: u32,  // of the tile of W, a multiple of 4
  first: u32, // its first row, too
  cols: u32,  // a multiple of 16
  units: u32, // in a row

  row_size: u32,
  plane1: u32,
  plane2: u32,
  flags: u32,

  x_offset: u32,
  x_stride: u32,
  out_offset: u32,
  out_stride: u32,

  mul_offset: u32,
  mul_stride: u32,
  act: u32,
  softcap: f32,

  splits: u32,
  capacity: u32,
  in_min: f32, // where BOUNDED
  in_max: f32,
}

@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read> weights: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> mul: array<f32>;
//#if PAIRED_OUT
@group(0) @binding(4) var<storage, read_write> out: array<vec2<f32>>;
//#else
@group(0) @binding(4) var<storage, read_write> out: array<vec4<f32>>;
//#end
//#if BOUNDED
@group(0) @binding(5) var<storage, read> row_bounds: array<vec4<f32>>;
@group(0) @binding(6) var<uniform> params: Params;
//#else
@group(0) @binding(5) var<uniform> params: Params;
//#end

//#include "unit.wgsl"
//#include "bounds.wgsl"
//#if !SPLIT
//#include "finish_four.wgsl"
//#end

// Held is what a thread has of a unit: 16 columns for each span.
struct Held {
  a: mat4x4<f32>,
//#if SPANS != 1
  b: mat4x4<f32>,
//#end
//#if SPANS == 4
  c: mat4x4<f32>, d: mat4x4<f32>,
//#end
}

fn scaled(q: mat4x4<f32>, scale: f32, low: f32) -> mat4x4<f32> {
  let l = vec4<f32>(low);
  return mat4x4<f32>(q[0] * scale + l, q[1] * scale + l, q[2] * scale + l, q[3] * scale + l);
}

fn held_row(row: u32, unit: u32) -> Held {
  let w = decode(row, unit);
  return Held(
    scaled(w.q[0], w.scale.x, w.low.x),
//#if SPANS != 1
    scaled(w.q[1], w.scale.y, w.low.y),
//#end
//#if SPANS == 4
    scaled(w.q[2], w.scale.z, w.low.z), scaled(w.q[3], w.scale.w, w.low.w),
//#end
  );
}

// sixteen_inputs is a token's columns from `at` on, in fours.
fn sixteen_inputs(at: u32) -> mat4x4<f32> {
  return mat4x4<f32>(bounded_input(x[at]), bounded_input(x[at + 1u]), bounded_input(x[at + 2u]), bounded_input(x[at + 3u]));
}

fn held_token(at: u32, unit: u32) -> Held {
  return Held(
    sixteen_inputs(at + span_column(unit, 0u) / 4u),
//#if SPANS != 1
    sixteen_inputs(at + span_column(unit, 1u) / 4u),
//#end
//#if SPANS == 4
    sixteen_inputs(at + span_column(unit, 2u) / 4u), sixteen_inputs(at + span_column(unit, 3u) / 4u),
//#end
  );
}

// hold is what thread reads of a unit; at is its row's or its token's.
fn hold(thread: u32, at: u32, unit: u32) -> Held {
  if (thread < 128u) { return held_row(at, unit); }
  return held_token(at, unit);
}

var<workgroup> tiles: array<vec4<f32>, 1024>; // rows, [16 columns][128], then tokens
var<private> acc: array<vec4<f32>, 16>;       // [8 tokens][8 rows]

// store puts 16 columns of a row or a token into memory.
fn store(v: mat4x4<f32>, thread: u32) {
  let to = (thread >> 7u) * 512u + ((thread & 127u) >> 2u);
  let c = thread & 3u;
  tiles[to][c] = v[0].x; tiles[to + 32u][c] = v[0].y; tiles[to + 64u][c] = v[0].z; tiles[to + 96u][c] = v[0].w;
  tiles[to + 128u][c] = v[1].x; tiles[to + 160u][c] = v[1].y; tiles[to + 192u][c] = v[1].z; tiles[to + 224u][c] = v[1].w;
  tiles[to + 256u][c] = v[2].x; tiles[to + 288u][c] = v[2].y; tiles[to + 320u][c] = v[2].z; tiles[to + 352u][c] = v[2].w;
  tiles[to + 384u][c] = v[3].x; tiles[to + 416u][c] = v[3].y; tiles[to + 448u][c] = v[3].z; tiles[to + 480u][c] = v[3].w;
}

// multiply adds the products of the 16 columns in memory.
fn multiply(thread: u32) {
  let tx = thread & 15u;
  let ty = (thread >> 4u) & 15u;
  for (var k = 0u; k < 16u; k++) {
    let a = tiles[k * 32u + tx];
    let b = tiles[k * 32u + tx + 16u];
    let p = tiles[512u + k * 32u + ty];
    let q = tiles[512u + k * 32u + ty + 16u];
    acc[0] += a * p.x; acc[1] += b * p.x;
    acc[2] += a * p.y; acc[3] += b * p.y;
    acc[4] += a * p.z; acc[5] += b * p.z;
    acc[6] += a * p.w; acc[7] += b * p.w;
    acc[8] += a * q.x; acc[9] += b * q.x;
    acc[10] += a * q.y; acc[11] += b * q.y;
    acc[12] += a * q.z; acc[13] += b * q.z;
    acc[14] += a * q.w; acc[15] += b * q.w;
  }
}

// write ends rows r … r+3 and r+64 … r+67 of token t.
fn write(t: u32, r: u32, a: vec4<f32>, b: vec4<f32>, split: u32) {
  if (t >= state[1]) { return; }
//#if SPLIT
  let to = ((split * params.capacity + t) * params.rows + r) / 4u;
  if (r < params.rows) { out[to] = a; }
  if (r + 64u < params.rows) { out[to + 16u] = b; }
//#else
  if (r < params.rows) { finish_four(t, params.first + r, a); }
  if (r + 64u < params.rows) { finish_four(t, params.first + r + 64u, b); }
//#end
}

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let first_token = workgroup.y * 128u;
  if (first_token >= state[1]) { return; }
  // What rows and tokens beyond the last get is not used.
  var at = min(workgroup.x * 128u + (thread & 127u), params.rows - 1u) * params.row_size;
  if (thread >= 128u) { at = (min(first_token + (thread & 127u), state[1] - 1u) * params.x_stride + params.x_offset) / 4u; }
  let begin = workgroup.z * params.units / params.splits;
  let end = (workgroup.z + 1u) * params.units / params.splits;

  var next = hold(thread, at, begin);
  for (var unit = begin; unit < end; unit++) {
    let held = next;
    workgroupBarrier();
    store(held.a, thread);
    workgroupBarrier();
    next = hold(thread, at, min(unit + 1u, params.units - 1u));
    multiply(thread);
//#if SPANS != 1
    workgroupBarrier();
    store(held.b, thread);
    workgroupBarrier();
    multiply(thread);
//#end
//#if SPANS == 4
    workgroupBarrier();
    store(held.c, thread);
    workgroupBarrier();
    multiply(thread);
    workgroupBarrier();
    store(held.d, thread);
    workgroupBarrier();
    multiply(thread);
//#end
  }
  let t = first_token + (thread >> 4u) * 4u;
  let r = workgroup.x * 128u + (thread & 15u) * 4u;
  write(t, r, acc[0], acc[1], workgroup.z);
  write(t + 1u, r, acc[2], acc[3], workgroup.z);
  write(t + 2u, r, acc[4], acc[5], workgroup.z);
  write(t + 3u, r, acc[6], acc[7], workgroup.z);
  write(t + 64u, r, acc[8], acc[9], workgroup.z);
  write(t + 65u, r, acc[10], acc[11], workgroup.z);
  write(t + 66u, r, acc[12], acc[13], workgroup.z);
  write(t + 67u, r, acc[14], acc[15], workgroup.z);
}

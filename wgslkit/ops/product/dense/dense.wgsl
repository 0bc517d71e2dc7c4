// out[m, n] = scale · Σ_k a[m, k]·b[k, n], or where ADD out[m, n] += it, for
// matrices of float32 that lie in any order: element (i, j) of each stands at
// offset + i·row + j·column. Where ROWS_ARE_TOKENS, m counts the replay's tokens,
// where SUMS_OVER_TOKENS k does.
//
// A workgroup of 8 × 8 threads makes 32 × 32 values, a thread 4 × 4 of them,
// from 32 k at a time. A_ALONG_K and B_ALONG_N say which way neighbours lie.
// Where SPLIT, workgroups of neighbouring z share k and leave their sums for
// sum_splits.wgsl: out[z][m][n], with room for `capacity` rows.
//
// Grid: x = tiles of n, y = tiles of m, z = splits.

struct Params {
  m: u32, n: u32, k: u32, splits: u32,
  a_offset: u32, a_row: u32, a_column: u32, capacity: u32,
  b_offset: u32, b_row: u32, b_column: u32, scale: f32,
  out_offset: u32, out_row: u32, out_column: u32,
}

@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

// Rows of 36 values, so that threads that store a column do not collide.
var<workgroup> a_at: array<vec4<f32>, 288>; // [32 k][32 m]
var<workgroup> b_at: array<vec4<f32>, 288>; // [32 k][32 n]

// What the thread loads for the next k, while these are multiplied.
var<private> a_next: array<f32, 16>;
var<private> b_next: array<f32, 16>;

// The places are k and m, or k and n, of a tile's value i.
fn a_place(i: u32) -> vec2<u32> {
//#if A_ALONG_K
  return vec2<u32>(i % 32u, i / 32u);
//#else
  return vec2<u32>(i / 32u, i % 32u);
//#end
}

fn b_place(i: u32) -> vec2<u32> {
//#if B_ALONG_N
  return vec2<u32>(i / 32u, i % 32u);
//#else
  return vec2<u32>(i % 32u, i / 32u);
//#end
}

fn fetch(thread: u32, first_m: u32, first_n: u32, first_k: u32, m: u32, k: u32) {
  for (var n = 0u; n < 16u; n++) {
    let p = a_place(thread + 64u * n) + vec2<u32>(first_k, first_m);
    a_next[n] = 0.0;
    if (p.y < m && p.x < k) { a_next[n] = a[params.a_offset + p.y * params.a_row + p.x * params.a_column]; }
    let q = b_place(thread + 64u * n) + vec2<u32>(first_k, first_n);
    b_next[n] = 0.0;
    if (q.y < params.n && q.x < k) { b_next[n] = b[params.b_offset + q.x * params.b_row + q.y * params.b_column]; }
  }
}

fn put(thread: u32) {
  for (var n = 0u; n < 16u; n++) {
    let p = a_place(thread + 64u * n);
    a_at[p.x * 9u + p.y / 4u][p.y % 4u] = a_next[n];
    let q = b_place(thread + 64u * n);
    b_at[q.x * 9u + q.y / 4u][q.y % 4u] = b_next[n];
  }
}

fn write(m: u32, n: u32, last_m: u32, split: u32, value: f32) {
  if (m >= last_m || n >= params.n) { return; }
//#if SPLIT
  out[(split * params.capacity + m) * params.n + n] = value * params.scale;
//#else
  let at = params.out_offset + m * params.out_row + n * params.out_column;
//#if ADD
  out[at] += value * params.scale;
//#else
  out[at] = value * params.scale;
//#end
//#end
}

fn write4(m: u32, n: u32, last_m: u32, split: u32, v: vec4<f32>) {
  write(m, n, last_m, split, v.x);
  write(m, n + 1u, last_m, split, v.y);
  write(m, n + 2u, last_m, split, v.z);
  write(m, n + 3u, last_m, split, v.w);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
//#if ROWS_ARE_TOKENS
  let m = state[1];
//#else
  let m = params.m;
//#end
//#if SUMS_OVER_TOKENS
  let k = state[1];
//#else
  let k = params.k;
//#end
  let first_m = group.y * 32u;
  let first_n = group.x * 32u;
  let x = thread % 8u;
  let y = thread / 8u;
  let steps = (k + 31u) / 32u;
  let end = (group.z + 1u) * steps / params.splits;
  var s0 = vec4<f32>(); // of row 4y
  var s1 = vec4<f32>();
  var s2 = vec4<f32>();
  var s3 = vec4<f32>();
  let begin = group.z * steps / params.splits;
  fetch(thread, first_m, first_n, begin * 32u, m, k);
  for (var step = begin; step < end; step++) {
    workgroupBarrier();
    put(thread);
    workgroupBarrier();
    fetch(thread, first_m, first_n, step * 32u + 32u, m, k);
    for (var j = 0u; j < 32u; j++) {
      let p = a_at[j * 9u + y];
      let q = b_at[j * 9u + x];
      s0 += q * p.x;
      s1 += q * p.y;
      s2 += q * p.z;
      s3 += q * p.w;
    }
  }
  let row = first_m + 4u * y;
  let column = first_n + 4u * x;
  write4(row, column, m, group.z, s0);
  write4(row + 1u, column, m, group.z, s1);
  write4(row + 2u, column, m, group.z, s2);
  write4(row + 3u, column, m, group.z, s3);
}

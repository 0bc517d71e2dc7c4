// out[t, r] = W[r]·x[t], or where GATED act(W[2r]·x[t]) · (W[2r+1]·x[t]), then
// what activation.wgsl names and `mul`, each W[r]·x[t] with what low_rank.wgsl
// adds where LOW_RANK: matvec.wgsl and matmul.wgsl in one
// small kernel, for processors on which compiling counts, and so do barriers
// and workgroup memory. There are none of either where there are SUBGROUPS.
//
// A workgroup takes rows_of_thread neighbouring rows (at most ROWS, an even
// number) and one token. Its threads share each row: one keeps a strip of the
// inputs in registers while all rows pass. Each strips/<STRIPS>.wgsl gives
//
//   const STRIP: u32                                columns of a strip
//   fn load_strip(at: u32, strip: u32)              reads its inputs, which x has from `at` on
//   fn strip_dot(row: u32) -> f32                   their product with a row's weights
//
// with row in 16-byte words. x has zeros beyond the row: use input(). Where a
// strip lies beyond the row, any of its weights will do. What does not depend on
// the row belongs into load_strip: a division costs as much as 50 additions.

//#include "params.wgsl"

@group(0) @binding(0) var<storage, read> weights: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> mul: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;
//#if BOUNDED
@group(0) @binding(4) var<storage, read> row_bounds: array<vec4<f32>>;
@group(0) @binding(5) var<uniform> params: Params;
//#else
//#if LOW_RANK
@group(0) @binding(4) var<storage, read> low_u: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> low_b: array<vec4<f32>>;
@group(0) @binding(6) var<uniform> params: Params;
//#else
@group(0) @binding(4) var<uniform> params: Params;
//#end
//#end

const GATED: u32 = 32u; // of params.flags

//#include "finish.wgsl"

fn input(at: u32, column: u32) -> f32 {
//#if BOUNDED
  return select(0.0, clamp(x[at + column], params.in_min, params.in_max), column < params.cols);
//#else
  return select(0.0, x[at + column], column < params.cols);
//#end
}

// inputs is those of four columns.
fn inputs(at: u32, column: u32) -> vec4<f32> {
  return vec4<f32>(input(at, column), input(at, column + 1u), input(at, column + 2u), input(at, column + 3u));
}

fn total(v: vec4<f32>) -> f32 { return (v.x + v.y) + (v.z + v.w); }

//#include "strips/${STRIPS}.wgsl"

// sums is this thread's part of each row's, until share_sums adds up what all
// threads have.
var<private> sums: array<f32, ROWS>;

//#if SUBGROUPS
//#enable subgroups
// A workgroup is one subgroup, or a part of one.
fn share_sums(count: u32, thread: u32) {
  for (var r = 0u; r < count; r++) { sums[r] = subgroupAdd(sums[r]); }
}

fn row_sum(r: u32) -> f32 { return sums[r]; }
//#else
const CELLS: u32 = ROWS * THREADS;
var<workgroup> cells: array<f32, CELLS>;

fn share_sums(count: u32, thread: u32) {
  for (var r = 0u; r < count; r++) { cells[r * THREADS + thread] = sums[r]; }
  workgroupBarrier();
}

fn row_sum(r: u32) -> f32 {
  var sum = 0.0;
  for (var i = 0u; i < THREADS; i++) { sum += cells[r * THREADS + i]; }
  return sum;
}
//#end

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let token = workgroup.y;
  let first = workgroup.x * params.rows_of_thread;
  let count = min(params.rows_of_thread, params.rows - min(first, params.rows));
  for (var s = 0u; s < params.units; s += THREADS) {
    load_strip(token * params.x_stride + params.x_offset, s + thread);
    for (var r = 0u; r < count; r++) {
      sums[r] += strip_dot((first + r) * params.row_size);
    }
  }
  share_sums(count, thread);
  let gated = (params.flags & GATED) != 0u;
  let step = select(1u, 2u, gated);
  for (var r = thread * step; r < count; r += THREADS * step) {
    let row = params.first + first + r;
    var v = activate(params.act, whole(token, row, row_sum(r)));
    if (gated) { v = v * whole(token, row + 1u, row_sum(r + 1u)); }
    finish(token, row >> (step - 1u), v);
  }
}

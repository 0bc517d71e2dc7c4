// out[r] = W[r]·h, or with GATED act(W[2r]·h) · (W[2r+1]·h), then what
// activation.wgsl names and `mul`; h is made of x as input.wgsl says. Where
// LOW_RANK, each W[r]·h is with what low_rank.wgsl adds.
//
// Each workgroup makes h for itself, whole (WHOLE) or in pieces of CAPACITY
// columns, and strides over the rows. The first leaves v in add_out.

//#include "params.wgsl"

@group(0) @binding(0) var<storage, read> weights: array<vec4<u32>>;
//#if MERGE
@group(0) @binding(1) var<storage, read> partials: array<f32>;
//#else
@group(0) @binding(1) var<storage, read> x: array<f32>;
//#end
@group(0) @binding(2) var<storage, read> norm_w: array<f32>;
//#if LOW_RANK
@group(0) @binding(3) var<storage, read> low_u: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> low_b: array<vec4<f32>>;
//#else
@group(0) @binding(3) var<storage, read> add_x: array<f32>;
@group(0) @binding(4) var<storage, read> add_w: array<f32>;
//#end
@group(0) @binding(5) var<storage, read> mul: array<f32>;
@group(0) @binding(6) var<storage, read_write> add_out: array<f32>;
@group(0) @binding(7) var<storage, read_write> out: array<f32>;
@group(0) @binding(8) var<uniform> params: Params;

//#include "weights/unit.wgsl"
//#include "input.wgsl"
//#include "columns.wgsl"
//#include "rows_${LOOPS}.wgsl"
//#include "row_sum.wgsl"
//#include "rowwise/activation.wgsl"
//#if LOW_RANK
//#include "low_rank.wgsl"
//#end

const MULTIPLIED: u32 = 4u; // of params.flags

var<private> adding: f32;        // factor of add_x
var<private> squares: f32;       // this thread's share of Σ v²
var<private> norming: f32 = 1.0; // factor of the results

// fill puts columns of h without the norm's factor, from `begin` on, into
// memory, with zeros beyond the row. The first time it also sums v² and, in
// the first workgroup, leaves v in add_out.
fn fill(begin: u32, fresh: bool, first: bool, thread: u32) {
  for (var i = thread; i < CAPACITY; i += THREADS) {
    let column = begin + i;
    var h = 0.0;
    if (column < params.cols) {
      let v = summed(0u, column, adding);
      h = weighed(v, column);
//#if ADD
      if (fresh && first) { add_out[column] = v; }
//#end
      if (fresh) { squares += v * v; }
    }
    columns[place(i)][i % 4u] = h;
  }
}

// row_total is the sum of the workgroup's row o, which is row r of the matrix.
fn row_total(o: u32, outs: u32, r: u32) -> f32 {
//#if LOW_RANK
  return norming * row_sum(o, outs) + low_rank(0u, r);
//#else
  return norming * row_sum(o, outs);
//#end
}

fn finish(r: u32, sum: f32) {
  var v = sum;
  if ((params.flags & MULTIPLIED) != 0u) { v = v * mul[params.mul_offset + r]; }
  out[params.out_offset + r] = softcapped(v, params.softcap);
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32) {
//#if SHARED_CODEBOOK
  share_codebook(thread, THREADS);
//#end
  let lane = thread % params.lanes;
  let group = thread / params.lanes;
  let outs = THREADS / params.lanes * rows_of_thread();
  let cell = lane * (outs + 1u) + group * rows_of_thread(); // where this thread's sums go
  let first = workgroup.x == 0u;
//#if MERGE
  merge_prepare(thread, params.heads, params.splits);
//#end
//#if ADD
  adding = add_inverse(0u, thread);
//#end
//#if WHOLE
  fill(0u, true, first, thread);
  workgroupBarrier();
//#end
  for (var base = workgroup.x * outs; base < params.rows; base += workgroups.x * outs) {
    let fresh = base == workgroup.x * outs;
    let row = base + group * rows_of_thread();
    clear_rows();
//#if WHOLE
    accumulate(row, params.rows - 1u, 0u, params.units, lane, cell);
//#else
    for (var unit = 0u; unit < params.units; unit += UNITS) {
      workgroupBarrier();
      fill(unit * UNIT, fresh, first, thread);
      workgroupBarrier();
      accumulate(row, params.rows - 1u, unit, min(UNITS, params.units - unit), lane, cell);
    }
//#end
    share(cell);
//#if NORM
    if (fresh) { norming = norm_inverse(squares, thread); }
//#end
    workgroupBarrier();
    let step = select(1u, 2u, GATED); // rows to an output
    for (var o = step * thread; o < outs && base + o < params.rows; o += step * THREADS) {
      let r = params.first + base + o;
      var v = activate(params.act, row_total(o, outs, r));
      if (GATED) { v = v * row_total(o + 1u, outs, r + 1u); }
      finish(r / step, v);
    }
    workgroupBarrier();
  }
}

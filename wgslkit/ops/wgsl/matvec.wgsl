// out[r] = W[r]·h, or with GATED act(W[2r]·h) · (W[2r+1]·h), then what
// activation.wgsl names and `mul`; h is made of x as input.wgsl says.
//
// Each workgroup makes h for itself, whole (WHOLE) or in pieces of CAPACITY
// columns, and strides over the rows. The first leaves v in add_out.

struct Params {
  rows: u32,  // of the tile
  first: u32, // the tile's first row
  cols: u32,
  units: u32, // in a row

  lanes: u32, // threads to a row
  row_size: u32,
  plane1: u32,
  plane2: u32,

  x_offset: u32,
  x_stride: u32,
  out_offset: u32,
  mul_offset: u32,

  add_eps: f32,
  add_scale: f32,
  norm_eps: f32,
  norm_scale: f32,

  flags: u32,
  act: u32,
  softcap: f32,
  heads: u32,

  head_dim: u32,
  splits: u32,
  rows_of_thread: u32,
}

@group(0) @binding(0) var<storage, read> weights: array<vec4<u32>>;
//#if MERGE
@group(0) @binding(1) var<storage, read> partials: array<f32>;
//#else
@group(0) @binding(1) var<storage, read> x: array<f32>;
//#end
@group(0) @binding(2) var<storage, read> norm_w: array<f32>;
@group(0) @binding(3) var<storage, read> add_x: array<f32>;
@group(0) @binding(4) var<storage, read> add_w: array<f32>;
@group(0) @binding(5) var<storage, read> mul: array<f32>;
@group(0) @binding(6) var<storage, read_write> add_out: array<f32>;
@group(0) @binding(7) var<storage, read_write> out: array<f32>;
@group(0) @binding(8) var<uniform> params: Params;

//#include "unit.wgsl"
//#include "input.wgsl"
//#include "columns.wgsl"
//#include "rows_${LOOPS}.wgsl"
//#include "row_sum.wgsl"
//#include "activation.wgsl"

const MULTIPLIED: u32 = 4u; // of params.flags

var<private> adding: f32;  // factor of add_x
var<private> norming: f32; // factor of v

//#if WHOLE
// prepare puts the input into memory, with zeros beyond the row.
fn prepare(first: bool, thread: u32) {
//#if MERGE
  merge_prepare(thread, params.heads, params.splits);
//#end
//#if ADD
  adding = add_inverse(0u, thread);
//#end
  var squares = 0.0;
  for (var i = thread; i < CAPACITY; i += THREADS) {
    var v = 0.0;
    if (i < params.cols) {
      v = summed(0u, i, adding);
//#if ADD
      if (first) { add_out[i] = v; }
//#end
    }
    columns[place(i)][i % 4u] = v;
    squares += v * v;
  }
//#if NORM
  norming = norm_inverse(squares, thread);
  for (var i = thread; i < params.cols; i += THREADS) {
    columns[place(i)][i % 4u] = normed(columns[place(i)][i % 4u], i, norming);
  }
//#end
  workgroupBarrier();
}
//#else
// prepare finds the factors of the input, and leaves v in add_out.
fn prepare(first: bool, thread: u32) {
//#if MERGE
  merge_prepare(thread, params.heads, params.splits);
//#end
//#if ADD
  adding = add_inverse(0u, thread);
//#end
//#if PASS
  var squares = 0.0;
  for (var i = thread; i < params.cols; i += THREADS) {
    let v = summed(0u, i, adding);
    squares += v * v;
//#if ADD
    if (first) { add_out[i] = v; }
//#end
  }
//#end
//#if NORM
  norming = norm_inverse(squares, thread);
//#end
}

// fill puts the input's columns from `begin` on into memory.
fn fill(begin: u32, thread: u32) {
  for (var i = thread; i < CAPACITY; i += THREADS) {
    let column = begin + i;
    var h = 0.0;
    if (column < params.cols) {
      h = summed(0u, column, adding);
//#if NORM
      h = normed(h, column, norming);
//#end
    }
    columns[place(i)][i % 4u] = h;
  }
}
//#end

fn finish(r: u32, sum: f32) {
  var v = sum;
  if ((params.flags & MULTIPLIED) != 0u) { v = v * mul[params.mul_offset + r]; }
  out[params.out_offset + r] = softcapped(v, params.softcap);
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let lane = thread % params.lanes;
  let group = thread / params.lanes;
  let outs = THREADS / params.lanes * rows_of_thread();
  let cell = lane * (outs + 1u) + group * rows_of_thread(); // where this thread's sums go
  prepare(workgroup.x == 0u, thread);
  for (var base = workgroup.x * outs; base < params.rows; base += workgroups.x * outs) {
    clear_rows();
    let row = base + group * rows_of_thread();
//#if WHOLE
    accumulate(row, params.rows - 1u, 0u, params.units, lane, cell);
//#else
    for (var unit = 0u; unit < params.units; unit += UNITS) {
      workgroupBarrier();
      fill(unit * UNIT, thread);
      workgroupBarrier();
      accumulate(row, params.rows - 1u, unit, min(UNITS, params.units - unit), lane, cell);
    }
//#end
    share(cell);
    workgroupBarrier();
    let step = select(1u, 2u, GATED);
    for (var o = step * thread; o < outs && base + o < params.rows; o += step * THREADS) {
      var v = activate(params.act, row_sum(o, outs));
      if (GATED) { v = v * row_sum(o + 1u, outs); }
      finish((params.first + base + o) / step, v);
    }
    workgroupBarrier();
  }
}

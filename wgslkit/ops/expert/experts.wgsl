// Products with the rows of the experts chosen for each token, ids[t, slot]:
//
//   out[t, slot, r] = W[e·rows + r]·h, or with GATED act(W[e·rows + 2r]·h) · (W[e·rows + 2r+1]·h)
//   WEIGHTED: out[t, r] = Σ over slots of slot_weights[t, slot] · (the same)
//
// h is row t of x, row t·K + slot where PER_SLOT, normed where NORM. A tile of
// W may hold a part of the experts: a row it lacks is left alone, or where
// WEIGHTED counts as zero; flag ADDED then adds to what earlier tiles left.

struct Params {
  rows: u32,      // of one expert
  first: u32,     // the tile's first row of all
  tile_rows: u32,
  cols: u32,

  units: u32,
  lanes: u32,
  row_size: u32,
  plane1: u32,

  plane2: u32,
  x_offset: u32,
  x_stride: u32,
  slots: u32,

  flags: u32,
  act: u32,
  norm_eps: f32,
  norm_scale: f32,

  rows_of_thread: u32,
//#if CODEBOOK
  codebook: array<vec4<u32>, CODEBOOK>,
//#end
}

@group(0) @binding(0) var<storage, read> weights: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> norm_w: array<f32>;
@group(0) @binding(3) var<storage, read> ids: array<u32>;
@group(0) @binding(4) var<storage, read> slot_weights: array<f32>;
@group(0) @binding(5) var<storage, read_write> out: array<f32>;
@group(0) @binding(6) var<uniform> params: Params;

//#include "weights/unit.wgsl"
//#include "product/input.wgsl"
//#include "product/columns.wgsl"
//#include "product/rows_${LOOPS}.wgsl"
//#include "product/row_sum.wgsl"
//#include "rowwise/activation.wgsl"

const ADDED: u32 = 8u;    // of params.flags
const PER_SLOT: u32 = 16u;

var<private> squares: f32; // this thread's share of Σ x²

// fill puts columns of row t of x, from `begin` on, into memory, without the
// norm's factor.
fn fill(t: u32, begin: u32, thread: u32) {
  for (var i = thread; i < CAPACITY; i += THREADS) {
    let column = begin + i;
    var h = 0.0;
    if (column < params.cols) {
      let v = summed(t, column, 0.0);
      h = weighed(v, column);
      squares += v * v;
    }
    columns[place(i)][i % 4u] = h;
  }
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
//#if SHARED_CODEBOOK
  share_codebook(thread, THREADS);
//#end
  let lane = thread % params.lanes;
  let group = thread / params.lanes;
  let outs = THREADS / params.lanes * rows_of_thread();
  let cell = lane * (outs + 1u) + group * rows_of_thread(); // where this thread's sums go
  let base = workgroup.x * outs;
  let step = select(1u, 2u, GATED); // rows to an output
  let t = select(workgroup.y / params.slots, workgroup.y, WEIGHTED);
  let first_pair = select(workgroup.y, t * params.slots, WEIGHTED);
  let pairs = select(1u, params.slots, WEIGHTED);
  for (var pair = first_pair; pair < first_pair + pairs; pair++) {
    let x_row = select(t, pair, (params.flags & PER_SLOT) != 0u);
    // The expert's row 0 in the tile; before the tile it wraps.
    let origin = ids[pair] * params.rows - params.first;
    squares = 0.0;
    clear_rows();
    for (var unit = 0u; unit < params.units; unit += UNITS) {
      workgroupBarrier();
      fill(x_row, unit * UNIT, thread);
      workgroupBarrier();
      accumulate(origin + base + group * rows_of_thread(), params.tile_rows - 1u, unit, min(UNITS, params.units - unit),
        lane, cell);
    }
    share(cell);
    var norming = 1.0;
//#if NORM
    norming = norm_inverse(squares, thread);
//#end
    workgroupBarrier();
    for (var o = step * thread; o < outs && base + o < params.rows; o += step * THREADS) {
      let here = origin + base + o < params.tile_rows;
      let at = (workgroup.y * params.rows + base + o) / step;
      var v = 0.0;
      if (here) {
        v = activate(params.act, norming * row_sum(o, outs));
        if (GATED) { v = v * norming * row_sum(o + 1u, outs); }
      }
      if (WEIGHTED) {
        v = v * slot_weights[pair];
        if (pair != first_pair || (params.flags & ADDED) != 0u) { v += out[at]; }
      }
      if (here || WEIGHTED) { out[at] = v; }
    }
  }
}

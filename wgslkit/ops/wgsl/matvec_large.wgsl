// out[r] = W[r]·h, or with GATED act(W[2r]·h) · (W[2r+1]·h), then what
// activation.wgsl names and `mul`, as matvec.wgsl, for GPUs. h is x, or
//
//   v = (x + rms(add_x; add_w)) · add_scale  → add_out    (ADD)
//   h = rms(v; norm_w) · norm_scale                       (NORM)
//
// LANES threads share ROWS rows, a unit of each at a time. What they read first
// does not wait for h, and what they read next not for what they do with it.
// Where STAGED, each workgroup makes h for itself, keeps it in memory, and takes
// rows in turns; else h is x, read where it is. COLS is a multiple of 4, COUNT
// the units of a row.

struct Params {
  rows: u32,  // of the tile
  first: u32, // the tile's first row
  row_size: u32,
  plane1: u32,

  plane2: u32,
  x_offset: u32, // in vectors of four
  out_offset: u32,
  mul_offset: u32,

  add_eps: f32,
  add_scale: f32,
  norm_eps: f32,
  norm_scale: f32,

  flags: u32,
  act: u32,
  softcap: f32,
}

@group(0) @binding(0) var<storage, read> weights: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> norm_w: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> add_x: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> add_w: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read> mul: array<f32>;
@group(0) @binding(6) var<storage, read_write> add_out: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read_write> out: array<f32>;
@group(0) @binding(8) var<uniform> params: Params;

//#include "unit.wgsl"
//#include "dot.wgsl"
//#include "activation.wgsl"

const MULTIPLIED: u32 = 4u; // of params.flags

const FOURS: u32 = COLS / 4u;
const FOURS_OF_UNIT: u32 = UNIT / 4u;

//#if STAGED
//#include "stage.wgsl"
//#else
// span_inputs reads x where it is; what lies beyond the row counts as zeros.
fn span_inputs(token: u32, unit: u32, span: u32) -> mat4x4<f32> {
  let c = span_column(unit, span) / 4u;
  return mat4x4<f32>(fours(c), fours(c + 1u), fours(c + 2u), fours(c + 3u));
}

fn fours(c: u32) -> vec4<f32> {
  if (COLS % UNIT == 0u || c < FOURS) { return x[params.x_offset + c]; }
  return vec4<f32>();
}
//#end

const OUTS: u32 = THREADS / LANES * ROWS; // rows of a workgroup

//#include "split_sum.wgsl"

const TURNS: u32 = (COUNT + LANES - 1u) / LANES;

var<private> sums: vec4<f32>; // of this thread's rows

// rows_of is the rows of this thread from `base` on, those beyond the last
// being the last, in words.
fn rows_of(base: u32, thread: u32) -> vec4<u32> {
  let row = vec4<u32>(base + thread / LANES * ROWS) + vec4<u32>(0u, 1u, 2u, 3u);
  return min(row, vec4<u32>(params.rows - 1u)) * params.row_size;
}

fn finish(r: u32, sum: f32) {
  var v = sum;
  if ((params.flags & MULTIPLIED) != 0u) { v = v * mul[params.mul_offset + r]; }
  out[params.out_offset + r] = softcapped(v, params.softcap);
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let lane = thread % LANES;
  let first_unit = min(lane, COUNT - 1u);
  var base = workgroup.x * OUTS;
  var rows = rows_of(base, thread);
  var next0 = packed(rows.x, first_unit);
//#if ROWS != 1
  var next1 = packed(rows.y, first_unit);
//#end
//#if ROWS == 4
  var next2 = packed(rows.z, first_unit);
  var next3 = packed(rows.w, first_unit);
//#end
//#if STAGED
  stage(workgroup.x == 0u, thread);
//#end
  loop {
    sums = vec4<f32>();
    for (var turn = 0u; turn < TURNS; turn++) {
      let unit = turn * LANES + lane;
      if (COUNT % LANES == 0u || unit < COUNT) {
        let now0 = next0;
//#if ROWS != 1
        let now1 = next1;
//#end
//#if ROWS == 4
        let now2 = next2;
        let now3 = next3;
//#end
        if (turn + 1u < TURNS) {
          let following = min(unit + LANES, COUNT - 1u);
          next0 = packed(rows.x, following);
//#if ROWS != 1
          next1 = packed(rows.y, following);
//#end
//#if ROWS == 4
          next2 = packed(rows.z, following);
          next3 = packed(rows.w, following);
//#end
        }
//#if STAGED
        let in = staged_inputs(unit);
//#else
        let in = inputs(0u, unit);
//#end
        sums.x += unit_dot(unpacked(now0, unit), in);
//#if ROWS != 1
        sums.y += unit_dot(unpacked(now1, unit), in);
//#end
//#if ROWS == 4
        sums.z += unit_dot(unpacked(now2, unit), in);
        sums.w += unit_dot(unpacked(now3, unit), in);
//#end
      }
    }
    let now = base;
    base += workgroups.x * OUTS;
    if (base < params.rows) {
      rows = rows_of(base, thread);
      next0 = packed(rows.x, first_unit);
//#if ROWS != 1
      next1 = packed(rows.y, first_unit);
//#end
//#if ROWS == 4
      next2 = packed(rows.z, first_unit);
      next3 = packed(rows.w, first_unit);
//#end
    }
    share(sums, thread);
    let step = select(1u, 2u, GATED); // rows to an output
    let o = step * thread;
    if (o < OUTS && now + o < params.rows) {
//#if NORM
      let norming = norm_factor();
//#else
      let norming = 1.0;
//#end
      var v = activate(params.act, norming * row_sum(o));
      if (GATED) { v = v * norming * row_sum(o + 1u); }
      finish((params.first + now + o) / step, v);
    }
    if (base >= params.rows) { break; }
    workgroupBarrier();
  }
}

// out[t, r] = W[r]·x[t], or with GATED act(W[2r]·x) · (W[2r+1]·x), then what
// activation.wgsl names and `mul`, each W[r]·x[t] with what low_rank.wgsl adds
// where LOW_RANK: matmul.wgsl for processors on which every load costs and a workgroup's
// threads do not share caches better than memory.
//
// A workgroup takes THREADS / lanes · rows_of_thread rows and four tokens.
// Each group of params.lanes threads takes strips in turn: the inputs of four
// tokens stay in registers while the group's rows pass.

//#include "params.wgsl"

@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read> weights: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read> mul: array<f32>;
@group(0) @binding(4) var<storage, read_write> out: array<f32>;
//#if BOUNDED
@group(0) @binding(5) var<storage, read> row_bounds: array<vec4<f32>>;
@group(0) @binding(6) var<uniform> params: Params;
//#else
//#if LOW_RANK
@group(0) @binding(5) var<storage, read> low_u: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read> low_b: array<vec4<f32>>;
@group(0) @binding(7) var<uniform> params: Params;
//#else
@group(0) @binding(5) var<uniform> params: Params;
//#end
//#end

//#include "weights/unit.wgsl"
//#include "dot.wgsl"
//#include "strip.wgsl"
//#include "finish.wgsl"

const CELLS: u32 = THREADS * ROWS + 64u; // of one token
const ALL_CELLS: u32 = 4u * CELLS;
var<workgroup> cells: array<f32, ALL_CELLS>;

fn four_inputs(token: u32, column: u32) -> vec4<f32> {
  let at = token * params.x_stride + params.x_offset + column;
  let inside = vec4<bool>(column < params.cols, column + 1u < params.cols, column + 2u < params.cols,
    column + 3u < params.cols);
  return select(vec4<f32>(), bounded_input(vec4<f32>(x[at], x[at + 1u], x[at + 2u], x[at + 3u])), inside);
}

fn span_inputs(token: u32, unit: u32, span: u32) -> mat4x4<f32> {
  let c = span_column(unit, span);
  return mat4x4<f32>(four_inputs(token, c), four_inputs(token, c + 4u), four_inputs(token, c + 8u),
    four_inputs(token, c + 12u));
}

fn keep(at: u32, fresh: bool, sum: f32) {
  if (fresh) { cells[at] = sum; } else { cells[at] = cells[at] + sum; }
}

fn row_sum(token: u32, o: u32, outs: u32) -> f32 {
  var sum = 0.0;
  for (var l = 0u; l < params.lanes; l++) { sum += cells[token * CELLS + l * (outs + 1u) + o]; }
  return sum;
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let lane = thread % params.lanes;
  let group = thread / params.lanes;
  let outs = THREADS / params.lanes * params.rows_of_thread;
  let cell = lane * (outs + 1u) + group * params.rows_of_thread;
  let base = workgroup.x * outs;
  let first_row = base + group * params.rows_of_thread;
  let token = workgroup.y * 4u;
  let last_token = state[1] - 1u;

  for (var strip = 0u; strip < params.units; strip += params.lanes * STRIP) {
    let u = strip + lane * STRIP;
    let in0 = strip_inputs(token, u);
    let in1 = strip_inputs(min(token + 1u, last_token), u);
    let in2 = strip_inputs(min(token + 2u, last_token), u);
    let in3 = strip_inputs(min(token + 3u, last_token), u);
    for (var r = 0u; r < params.rows_of_thread; r++) {
      let w = strip_weights(min(first_row + r, params.rows - 1u) * params.row_size, u);
      keep(cell + r, strip == 0u, strip_dot(w, in0));
      keep(cell + r + CELLS, strip == 0u, strip_dot(w, in1));
      keep(cell + r + 2u * CELLS, strip == 0u, strip_dot(w, in2));
      keep(cell + r + 3u * CELLS, strip == 0u, strip_dot(w, in3));
    }
  }
  workgroupBarrier();

  let step = select(1u, 2u, GATED);
  for (var o = step * thread; o < outs && base + o < params.rows; o += step * THREADS) {
    for (var i = 0u; i < 4u && token + i <= last_token; i++) {
      let r = params.first + base + o;
      var v = activate(params.act, whole(token + i, r, row_sum(i, o, outs)));
      if (GATED) { v = v * whole(token + i, r + 1u, row_sum(i, o + 1u, outs)); }
      finish(token + i, r / step, v);
    }
  }
}

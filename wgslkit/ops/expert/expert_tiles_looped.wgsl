// expert_tiles.wgsl for processors on which every load costs and a workgroup's
// threads do not share caches better than memory, as matmul_looped.wgsl is to
// matmul.wgsl: a tile has four pairs.
//
// A workgroup takes THREADS / lanes · rows_of_thread rows of an expert and a tile of
// pairs. Each group of params.lanes threads takes strips in turn: the inputs of
// four pairs stay in registers while the group's rows pass.
//
// Grid: x = runs of an expert's rows, y = tiles of pairs, as many as there can be.

//#include "expert_rows.wgsl"
//#include "product/dot.wgsl"
//#include "product/strip.wgsl"

const CELLS: u32 = THREADS * ROWS + 64u; // of one pair
const ALL_CELLS: u32 = 4u * CELLS;
var<workgroup> cells: array<f32, ALL_CELLS>;

fn four_inputs(at: u32, column: u32) -> vec4<f32> {
  let i = at + column;
  let inside = vec4<bool>(column < params.cols, column + 1u < params.cols, column + 2u < params.cols,
    column + 3u < params.cols);
  return select(vec4<f32>(), vec4<f32>(x[i], x[i + 1u], x[i + 2u], x[i + 3u]), inside);
}

// span_inputs is of the row of x that begins at `at`.
fn span_inputs(at: u32, unit: u32, span: u32) -> mat4x4<f32> {
  let c = span_column(unit, span);
  return mat4x4<f32>(four_inputs(at, c), four_inputs(at, c + 4u), four_inputs(at, c + 8u), four_inputs(at, c + 12u));
}

fn keep(at: u32, fresh: bool, sum: f32) {
  if (fresh) { cells[at] = sum; } else { cells[at] = cells[at] + sum; }
}

fn row_sum(i: u32, o: u32, outs: u32) -> f32 {
  var sum = 0.0;
  for (var l = 0u; l < params.lanes; l++) { sum += cells[i * CELLS + l * (outs + 1u) + o]; }
  return sum;
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let outs = THREADS / params.lanes * params.rows_of_thread;
  let base = workgroup.x * outs;
  let tile = tiles[workgroup.y];
  if (absent(tile, base, outs)) { return; }
  let lane = thread % params.lanes;
  let group = thread / params.lanes;
  let cell = lane * (outs + 1u) + group * params.rows_of_thread;
  let first_row = base + group * params.rows_of_thread;
  let count = tile.z;
  let at0 = input_at(tile, 0u);
  let at1 = input_at(tile, 1u);
  let at2 = input_at(tile, 2u);
  let at3 = input_at(tile, 3u);

  for (var strip = 0u; strip < params.units; strip += params.lanes * STRIP) {
    let u = strip + lane * STRIP;
    let in0 = strip_inputs(at0, u);
    let in1 = strip_inputs(at1, u);
    let in2 = strip_inputs(at2, u);
    let in3 = strip_inputs(at3, u);
    for (var r = 0u; r < params.rows_of_thread; r++) {
      let w = strip_weights(row_in_tile(tile, first_row + r) * params.row_size, u);
      keep(cell + r, strip == 0u, strip_dot(w, in0));
      if (count > 1u) { keep(cell + r + CELLS, strip == 0u, strip_dot(w, in1)); }
      if (count > 2u) { keep(cell + r + 2u * CELLS, strip == 0u, strip_dot(w, in2)); }
      if (count > 3u) { keep(cell + r + 3u * CELLS, strip == 0u, strip_dot(w, in3)); }
    }
  }
  workgroupBarrier();

  let step = select(1u, 2u, GATED);
  let origin = tile.x * params.rows - params.first;
  for (var o = step * thread; o < outs && base + o < params.rows; o += step * THREADS) {
    if (origin + base + o >= params.tile_rows) { continue; }
    for (var i = 0u; i < count; i++) {
      var v = activate(params.act, row_sum(i, o, outs));
      if (GATED) { v = v * row_sum(i, o + 1u, outs); }
      out[(pairs[tile.y + i] * params.rows + base + o) / step] = v;
    }
  }
}

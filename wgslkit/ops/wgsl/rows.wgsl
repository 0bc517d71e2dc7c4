// Dot products of ROWS rows by each group of params.lanes threads. The sums
// of all groups of a workgroup, OUTS = THREADS / lanes · ROWS of them, are in
// row order. Uses columns.wgsl.

var<private> acc: array<f32, ROWS>;
const CELLS: u32 = THREADS * ROWS + 64u;
var<workgroup> cells: array<f32, CELLS>;

fn clear_rows() {
  for (var r = 0u; r < ROWS; r++) { acc[r] = 0.0; }
}

// accumulate adds the products of `count` units in memory, which are those
// from first_unit on of the rows from first_row on.
fn accumulate(first_row: u32, last_row: u32, first_unit: u32, count: u32, lane: u32) {
  for (var u = lane; u < count; u += params.lanes) {
    let in = inputs(u);
    for (var r = 0u; r < ROWS; r++) {
      let row = min(first_row + r, last_row);
      acc[r] = acc[r] + unit_dot(decode(row * params.row_size, first_unit + u), in);
    }
  }
}

// share leaves this thread's sums where row_sum finds them.
fn share(lane: u32, group: u32, outs: u32) {
  for (var r = 0u; r < ROWS; r++) { cells[lane * (outs + 1u) + group * ROWS + r] = acc[r]; }
}

fn row_sum(o: u32, outs: u32) -> f32 {
  var sum = 0.0;
  for (var l = 0u; l < params.lanes; l++) { sum += cells[l * (outs + 1u) + o]; }
  return sum;
}

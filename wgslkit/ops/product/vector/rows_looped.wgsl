// Dot products of params.rows_of_thread rows by each group of params.lanes
// threads, which take a strip in turn and keep its inputs in
// registers while all rows pass: for processors on which every load costs.
// The sums of all groups of a workgroup lie in row order. Uses columns.wgsl.

const CELLS: u32 = THREADS * ROWS + 64u; // ROWS is the most that rows_of_thread may be
var<workgroup> cells: array<f32, CELLS>;

//#include "strip.wgsl"

fn rows_of_thread() -> u32 { return params.rows_of_thread; }

fn clear_rows() {}

fn share(cell: u32) {}

// accumulate adds the products of `count` units in memory, which are those
// from first_unit on of the rows from first_row on, to the sums from `cell`
// on. Units beyond the row have zeros as inputs.
fn accumulate(first_row: u32, last_row: u32, first_unit: u32, count: u32, lane: u32, cell: u32) {
  for (var strip = 0u; strip < count; strip += params.lanes * STRIP) {
    let u = strip + lane * STRIP;
    let unit = first_unit + u;
    let in = strip_inputs(0u, u);
    for (var r = 0u; r < params.rows_of_thread; r++) {
      let row = min(first_row + r, last_row) * params.row_size;
      var sum = strip_dot(strip_weights(row, unit), in);
      if (unit >= params.lanes * STRIP) { sum += cells[cell + r]; }
      cells[cell + r] = sum;
    }
  }
}

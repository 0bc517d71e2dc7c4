// Dot products of ROWS rows by each group of params.lanes threads, which take
// a unit in turn. The rows' sums stay in registers: for GPUs. The sums of all
// groups of a workgroup lie in row order. Uses columns.wgsl.

const CELLS: u32 = THREADS * ROWS + 64u;
var<workgroup> cells: array<f32, CELLS>;
var<private> sums: array<f32, ROWS>;

fn rows_of_thread() -> u32 { return ROWS; }

fn clear_rows() {
  for (var r = 0u; r < ROWS; r++) { sums[r] = 0.0; }
}

// accumulate adds the products of `count` units in memory, which are those
// from first_unit on of the rows from first_row on.
fn accumulate(first_row: u32, last_row: u32, first_unit: u32, count: u32, lane: u32, cell: u32) {
  for (var u = lane; u < count; u += params.lanes) {
    let in = inputs(0u, u);
    for (var r = 0u; r < ROWS; r++) {
      let row = min(first_row + r, last_row);
      sums[r] = sums[r] + unit_dot(decode(row * params.row_size, first_unit + u), in);
    }
  }
}

// share leaves this thread's sums where row_sum finds them, from `cell` on.
fn share(cell: u32) {
  for (var r = 0u; r < ROWS; r++) { cells[cell + r] = sums[r]; }
}

// Dot products of ROWS rows (2 or 4) by each group of params.lanes threads,
// which take a unit in turn. The rows' sums stay in registers: for GPUs. The
// sums of all groups of a workgroup lie in row order. Uses columns.wgsl.

const CELLS: u32 = THREADS * ROWS + 64u;
var<workgroup> cells: array<f32, CELLS>;
var<private> sums: vec4<f32>;

fn rows_of_thread() -> u32 { return ROWS; }

fn clear_rows() { sums = vec4<f32>(); }

// accumulate adds the products of `count` units in memory, which are those
// from first_unit on of the rows from first_row on.
fn accumulate(first_row: u32, last_row: u32, first_unit: u32, count: u32, lane: u32, cell: u32) {
  let row0 = min(first_row, last_row) * params.row_size;
  let row1 = min(first_row + 1u, last_row) * params.row_size;
//#if ROWS == 4
  let row2 = min(first_row + 2u, last_row) * params.row_size;
  let row3 = min(first_row + 3u, last_row) * params.row_size;
//#end
  for (var u = lane; u < count; u += params.lanes) {
    let in = inputs(0u, u);
    sums.x += unit_dot(decode(row0, first_unit + u), in);
    sums.y += unit_dot(decode(row1, first_unit + u), in);
//#if ROWS == 4
    sums.z += unit_dot(decode(row2, first_unit + u), in);
    sums.w += unit_dot(decode(row3, first_unit + u), in);
//#end
  }
}

// share leaves this thread's sums where row_sum finds them, from `cell` on.
fn share(cell: u32) {
  cells[cell] = sums.x;
  cells[cell + 1u] = sums.y;
//#if ROWS == 4
  cells[cell + 2u] = sums.z;
  cells[cell + 3u] = sums.w;
//#end
}

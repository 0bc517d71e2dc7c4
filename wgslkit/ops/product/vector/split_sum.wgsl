// The sums of a workgroup's OUTS rows, of which LANES threads have a part each:
// thread group·LANES + lane gives those of rows group·ROWS and the next. After
// share any thread may ask for any row's. Where SPLIT_SUM, they are added up in
// two steps, since one thread would wait long for so many. A Sum is a number, or
// the numbers of several tokens.

const SUM_STRIDE: u32 = OUTS + 1u;
const SUM_CELLS: u32 = LANES * SUM_STRIDE;
var<workgroup> sum_cells: array<Sum, SUM_CELLS>;

//#if SPLIT_SUM
const ADDED: u32 = 16u; // lanes that the first step adds up
const PARTS: u32 = LANES / ADDED;
const PART_CELLS: u32 = PARTS * OUTS;
var<workgroup> part_cells: array<Sum, PART_CELLS>;
//#end

fn share(row0: Sum, row1: Sum, row2: Sum, row3: Sum, thread: u32) {
  let cell = thread % LANES * SUM_STRIDE + thread / LANES * ROWS;
  sum_cells[cell] = row0;
//#if ROWS != 1
  sum_cells[cell + 1u] = row1;
//#end
//#if ROWS == 4
  sum_cells[cell + 2u] = row2;
  sum_cells[cell + 3u] = row3;
//#end
  workgroupBarrier();
//#if SPLIT_SUM
  if (thread < PART_CELLS) {
    var sum = Sum();
    for (var l = 0u; l < ADDED; l++) { sum += sum_cells[(thread / OUTS * ADDED + l) * SUM_STRIDE + thread % OUTS]; }
    part_cells[thread] = sum;
  }
  workgroupBarrier();
//#end
}

fn row_sum(o: u32) -> Sum {
  var sum = Sum();
//#if SPLIT_SUM
  for (var p = 0u; p < PARTS; p++) { sum += part_cells[p * OUTS + o]; }
//#else
  for (var l = 0u; l < LANES; l++) { sum += sum_cells[l * SUM_STRIDE + o]; }
//#end
  return sum;
}

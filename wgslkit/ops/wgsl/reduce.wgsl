// sum over the workgroup: every thread gives a value and gets the sum of all.
// Uses THREADS (the workgroup's size, a power of two).

var<workgroup> reduce_cells: array<f32, THREADS>;

fn workgroup_sum(value: f32, lane: u32) -> f32 {
  workgroupBarrier();
  reduce_cells[lane] = value;
  workgroupBarrier();
  for (var half = THREADS / 2u; half > 0u; half = half / 2u) {
    if (lane < half) { reduce_cells[lane] = reduce_cells[lane] + reduce_cells[lane + half]; }
    workgroupBarrier();
  }
  return reduce_cells[0];
}

// workgroup_sum: every thread gives a value and gets the sum of all.
// Uses THREADS (the workgroup's size, a power of two).
//
// Barriers cost more than reads that all threads share, on every kind of
// device: the values are summed in at most two rounds of up to 32 or 16.

// Where SUBGROUPS, a workgroup is one subgroup and needs none.

//#if SUBGROUPS
//#enable subgroups
fn workgroup_sum(value: f32, lane: u32) -> f32 { return subgroupAdd(value); }
//#else
var<workgroup> reduce_cells: array<f32, THREADS>;

fn workgroup_sum(value: f32, lane: u32) -> f32 {
  workgroupBarrier();
  reduce_cells[lane] = value;
  workgroupBarrier();
  var round = THREADS;
  if (THREADS > 32u) {
    round = 16u;
    var part = 0.0;
    if (lane < round) {
      for (var i = lane; i < THREADS; i += round) { part += reduce_cells[i]; }
    }
    workgroupBarrier();
    if (lane < round) { reduce_cells[lane] = part; }
    workgroupBarrier();
  }
  var sum = 0.0;
  for (var i = 0u; i < round; i++) { sum += reduce_cells[i]; }
  return sum;
}
//#end

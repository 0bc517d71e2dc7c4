// row_sum is what the threads of a row found together: sum o of a workgroup's
// `outs`, which thread l of them left at cells[l · (outs + 1) + o].

fn row_sum(o: u32, outs: u32) -> f32 {
  var sum = 0.0;
  for (var l = 0u; l < params.lanes; l++) { sum += cells[l * (outs + 1u) + o]; }
  return sum;
}

// merge reads attention that was split over keys (ops.Partials):
//
//   merged[h·head_dim + d] = Σ_s exp(m[h,s] − M[h])·o[h,s,d] / Σ_s exp(m[h,s] − M[h])·l[h,s]
//
// Uses THREADS, MERGE_CELLS (heads·splits), and a read binding `partials: array<f32>`:
//   partials[0]                              how many splits are filled
//   partials[4 + 2·(h·splits + s)], [5 + …]  m and l
//   partials[merge_base(heads, splits) + (h·splits + s)·head_dim + d]  o
//
// Every thread calls merge_prepare once; then any may ask for any element.

var<workgroup> merge_cells: array<f32, MERGE_CELLS>;

fn merge_base(heads: u32, splits: u32) -> u32 { return (4u + 2u * heads * splits + 3u) / 4u * 4u; }

// merge_prepare leaves each split's share of its head in merge_cells.
fn merge_prepare(lane: u32, heads: u32, splits: u32) {
  let filled = u32(partials[0]);
  for (var h = lane; h < heads; h += THREADS) {
    let cell = h * splits;
    var top = partials[4u + 2u * cell];
    for (var s = 1u; s < filled; s++) { top = max(top, partials[4u + 2u * (cell + s)]); }
    var total = 0.0;
    for (var s = 0u; s < filled; s++) {
      let share = exp(partials[4u + 2u * (cell + s)] - top);
      merge_cells[cell + s] = share;
      total += share * partials[5u + 2u * (cell + s)];
    }
    for (var s = 0u; s < filled; s++) { merge_cells[cell + s] = merge_cells[cell + s] / total; }
  }
  workgroupBarrier();
}

// merged is element i of the merged row of heads·head_dim values.
fn merged(i: u32, heads: u32, head_dim: u32, splits: u32) -> f32 {
  let filled = u32(partials[0]);
  let head = i / head_dim;
  let base = merge_base(heads, splits) + head * splits * head_dim + i % head_dim;
  var sum = 0.0;
  for (var s = 0u; s < filled; s++) { sum += merge_cells[head * splits + s] * partials[base + s * head_dim]; }
  return sum;
}

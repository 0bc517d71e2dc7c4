// The largest of a workgroup's values with its id, of equals the lower id: it stands
// at place 0 of best_value and best_id. THREADS is a power of two.

const least = -3.4028234e38f;
const no_id = 0xffffffffu;

var<workgroup> best_value: array<f32, THREADS>;
var<workgroup> best_id: array<u32, THREADS>;

fn argmax_of(lane: u32, value: f32, id: u32) {
  best_value[lane] = value;
  best_id[lane] = id;
  workgroupBarrier();
  for (var half = THREADS / 2u; half > 0u; half /= 2u) {
    if (lane < half) {
      let v = best_value[lane + half];
      let i = best_id[lane + half];
      if (v > best_value[lane] || (v == best_value[lane] && i < best_id[lane])) {
        best_value[lane] = v;
        best_id[lane] = i;
      }
    }
    workgroupBarrier();
  }
}

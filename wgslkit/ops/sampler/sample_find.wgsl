// Search in the histogram of sample_bins: the first bin, in order, at which the
// sum of what came so far exceeds a target, by count or by mass.

//#include "sample_bins.wgsl"

struct Found {
  bin: u32,
  count: u32,              // tokens in the bin
  count_before: u32,
  mass: vec2<u32>,         // of the bin
  mass_before: vec2<u32>,
}

// Sums over the bins of each thread and of all threads below it.
var<workgroup> sum_count: array<u32, THREADS>;
var<workgroup> sum_mass: array<vec2<u32>, THREADS>;
var<workgroup> found: Found;

const LANE_BINS: u32 = BINS / THREADS;

// sum_bins prepares find, once all bins are full.
fn sum_bins(lane: u32) {
  var count = 0u;
  var mass = vec2<u32>(0u, 0u);
  for (var i = 0u; i < LANE_BINS; i++) {
    count += bin_count_of(lane * LANE_BINS + i);
    mass = plus(mass, bin_mass(lane * LANE_BINS + i));
  }
  sum_count[lane] = count;
  sum_mass[lane] = mass;
  workgroupBarrier();
  for (var reach = 1u; reach < THREADS; reach = reach * 2u) {
    if (lane >= reach) {
      count += sum_count[lane - reach];
      mass = plus(mass, sum_mass[lane - reach]);
    }
    workgroupBarrier();
    sum_count[lane] = count;
    sum_mass[lane] = mass;
    workgroupBarrier();
  }
}

// total is the mass of all bins.
fn total_mass() -> vec2<u32> { return sum_mass[THREADS - 1u]; }

// find leaves its answer in found; bin 0 with nothing in it where the sum never
// exceeds the target. By count, the target is target.x.
fn find(target_sum: vec2<u32>, by_count: bool, lane: u32) {
  workgroupBarrier();
  if (lane == 0u) { found = Found(0u, 0u, 0u, vec2<u32>(0u, 0u), vec2<u32>(0u, 0u)); }
  workgroupBarrier();
  var count = 0u;
  var mass = vec2<u32>(0u, 0u);
  if (lane > 0u) {
    count = sum_count[lane - 1u];
    mass = sum_mass[lane - 1u];
  }
  for (var i = 0u; i < LANE_BINS; i++) {
    let bin = lane * LANE_BINS + i;
    let here = bin_count_of(bin);
    let here_mass = bin_mass(bin);
    let below = select(mass, vec2<u32>(count, 0u), by_count);
    let above = select(plus(mass, here_mass), vec2<u32>(count + here, 0u), by_count);
    if (!less(target_sum, below) && less(target_sum, above)) {
      found = Found(bin, here, count, here_mass, mass);
    }
    count += here;
    mass = plus(mass, here_mass);
  }
  workgroupBarrier();
}

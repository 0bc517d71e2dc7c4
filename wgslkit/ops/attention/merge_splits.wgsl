// out[h·HEAD_DIM + d] = Σ_s exp(m[h,s] − M[h])·o[h,s,d] / Σ_s exp(m[h,s] − M[h])·l[h,s]
//
// over the filled splits s of attention that was split over keys; merge.wgsl
// draws the layout of partials. One workgroup for each head (x) and block of
// BLOCK values of it (y); THREADS / BLOCK threads share a value. z is tokens, each
// with `region` words of partials.

struct Params { heads: u32, head_dim: u32, splits: u32, region: u32 }

@group(0) @binding(0) var<storage, read> partials: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;

const SHARERS: u32 = THREADS / BLOCK;

var<workgroup> tops: array<f32, THREADS>;
var<workgroup> shares: array<f32, SPLITS>;
var<workgroup> sums: array<f32, THREADS>;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let own = group.z * params.region;
  let filled = u32(partials[own]);
  let cell = group.x * params.splits;
  var top = -1e30;
  for (var s = lane; s < filled; s += THREADS) { top = max(top, partials[own + 4u + 2u * (cell + s)]); }
  tops[lane] = top;
  workgroupBarrier();
  for (var i = 0u; i < min(THREADS, filled); i++) { top = max(top, tops[i]); }
  workgroupBarrier();
  var mine = 0.0;
  for (var s = lane; s < filled; s += THREADS) {
    let share = exp(partials[own + 4u + 2u * (cell + s)] - top);
    shares[s] = share;
    mine += share * partials[own + 5u + 2u * (cell + s)];
  }
  tops[lane] = mine; // from here on, parts of the sum
  workgroupBarrier();

  let d = group.y * BLOCK + lane % BLOCK;
  let base = own + (4u + 2u * params.heads * params.splits + 3u) / 4u * 4u + cell * params.head_dim +
    min(d, params.head_dim - 1u);
  var sum = 0.0;
  for (var s = lane / BLOCK; s < filled; s += 4u * SHARERS) {
    // Four loads under way at once; those beyond the last count for nothing.
    let s1 = min(s + SHARERS, filled - 1u);
    let s2 = min(s + 2u * SHARERS, filled - 1u);
    let s3 = min(s + 3u * SHARERS, filled - 1u);
    let v0 = partials[base + s * params.head_dim];
    let v1 = partials[base + s1 * params.head_dim];
    let v2 = partials[base + s2 * params.head_dim];
    let v3 = partials[base + s3 * params.head_dim];
    sum += shares[s] * v0;
    sum += select(0.0, shares[s1] * v1, s + SHARERS < filled);
    sum += select(0.0, shares[s2] * v2, s + 2u * SHARERS < filled);
    sum += select(0.0, shares[s3] * v3, s + 3u * SHARERS < filled);
  }
  sums[lane] = sum;
  workgroupBarrier();
  if (lane >= BLOCK || d >= params.head_dim) { return; }
  for (var i = 1u; i < SHARERS; i++) { sum += sums[lane + i * BLOCK]; }
  var total = 0.0;
  for (var i = 0u; i < min(THREADS, filled); i++) { total += tops[i]; }
  out[(group.z * params.heads + group.x) * params.head_dim + d] = sum / total;
}

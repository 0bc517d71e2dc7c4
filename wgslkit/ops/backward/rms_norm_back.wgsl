// dx[i] = r·g[i] − x[i]·r³·(Σ_j g[j]·x[j]) / size, or where ADD dx[i] += it, with
//   g = dy ⊙ w,  r = 1 / sqrt(mean over j of x[j]² + eps):
// what y = rms(x; w) hands back to x, for each group of `size` values.
//
// One workgroup for each group (x) of each token (y); w is left out where
// WEIGHTED is false.

//#include "record/reduce.wgsl"

struct Params {
  size: u32, groups: u32, eps: f32, scale: f32, x_offset: u32, x_stride: u32, out_offset: u32, out_stride: u32
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> dy: array<f32>;
@group(0) @binding(2) var<storage, read> w: array<f32>;
@group(0) @binding(3) var<storage, read_write> dx: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

fn grad(at: u32, i: u32) -> f32 {
//#if WEIGHTED
  return dy[at + i] * params.scale * w[i];
//#else
  return dy[at + i] * params.scale;
//#end
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let source = params.x_offset + group.y * params.x_stride + group.x * params.size;
  let to = params.out_offset + group.y * params.out_stride + group.x * params.size;
  let base = (group.y * params.groups + group.x) * params.size;
  var squares = 0.0;
  var along = 0.0;
  for (var i = lane; i < params.size; i += THREADS) {
    let v = x[source + i];
    squares += v * v;
    along += grad(base, i) * v;
  }
  let n = f32(params.size);
  let r = 1.0 / sqrt(workgroup_sum(squares, lane) / n + params.eps);
  let back = workgroup_sum(along, lane) * r * r * r / n;
  for (var i = lane; i < params.size; i += THREADS) {
    let v = r * grad(base, i) - back * x[source + i];
//#if ADD
    dx[to + i] += v;
//#else
    dx[to + i] = v;
//#end
  }
}

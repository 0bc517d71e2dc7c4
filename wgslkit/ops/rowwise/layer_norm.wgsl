// y[t, i] = (x[t, i] - mean(x[t])) / sqrt(var(x[t]) + eps) · w[i] + b[i]
//
// One workgroup for each token t, of `size` values.

//#include "record/reduce.wgsl"

struct Params { size: u32, eps: f32 }

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> w: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let base = group.y * params.size;
  var sum = 0.0;
  for (var i = lane; i < params.size; i += THREADS) { sum += x[base + i]; }
  let mean = workgroup_sum(sum, lane) / f32(params.size);
  var squares = 0.0;
  for (var i = lane; i < params.size; i += THREADS) {
    let v = x[base + i] - mean;
    squares += v * v;
  }
  let inverse = 1.0 / sqrt(workgroup_sum(squares, lane) / f32(params.size) + params.eps);
  for (var i = lane; i < params.size; i += THREADS) { y[base + i] = (x[base + i] - mean) * inverse * w[i] + b[i]; }
}

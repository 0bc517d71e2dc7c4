// y[t, g, i] = scale·x[t, g, i] / sqrt(mean over i of (scale·x[t, g, i])² + eps) · w[i]
//
// One workgroup for each group g of `size` values of each token t; w is left
// out where WEIGHTED is false.

//#include "record/reduce.wgsl"

struct Params { size: u32, groups: u32, eps: f32, scale: f32, x_offset: u32, x_stride: u32 }

@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> w: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let source = params.x_offset + group.y * params.x_stride + group.x * params.size;
  let base = (group.y * params.groups + group.x) * params.size;
  var squares = 0.0;
  for (var i = lane; i < params.size; i += THREADS) {
    let v = x[source + i] * params.scale;
    squares += v * v;
  }
  let total = workgroup_sum(squares, lane);
  let inverse = params.scale / sqrt(total / f32(params.size) + params.eps);
  for (var i = lane; i < params.size; i += THREADS) {
    var v = x[source + i] * inverse;
//#if WEIGHTED
    v = v * w[i];
//#end
    y[base + i] = v;
  }
}

// out[t, g, i] = (rms(a_scale·a[t, g]; w)[i] + b_scale·b[t, g, i]) · out_scale
//
// One workgroup for each group g of `size` values of each token t; w is left
// out where WEIGHTED is false.

//#include "record/reduce.wgsl"

struct Params { size: u32, groups: u32, eps: f32, a_scale: f32, b_scale: f32, out_scale: f32 }

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read> w: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let base = (group.y * params.groups + group.x) * params.size;
  var squares = 0.0;
  for (var i = lane; i < params.size; i += THREADS) {
    let v = a[base + i] * params.a_scale;
    squares += v * v;
  }
  let total = workgroup_sum(squares, lane);
  let inverse = params.a_scale / sqrt(total / f32(params.size) + params.eps);
  for (var i = lane; i < params.size; i += THREADS) {
    var v = a[base + i] * inverse;
//#if WEIGHTED
    v = v * w[i];
//#end
    out[base + i] = (v + params.b_scale * b[base + i]) * params.out_scale;
  }
}

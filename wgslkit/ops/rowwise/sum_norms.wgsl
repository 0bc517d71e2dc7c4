// out[t, i] = rms(a[t]; a_weight)[i] + rms(b[t]; b_weight)[i]
//
// One workgroup for each token t; the weights are left out where A_WEIGHTED
// or B_WEIGHTED is false.

//#include "record/reduce.wgsl"

struct Params { size: u32, eps: f32 }

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read> a_weight: array<f32>;
@group(0) @binding(3) var<storage, read> b_weight: array<f32>;
@group(0) @binding(4) var<storage, read_write> out: array<f32>;
@group(0) @binding(5) var<uniform> params: Params;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let base = group.y * params.size;
  var a_squares = 0.0;
  var b_squares = 0.0;
  for (var i = lane; i < params.size; i += THREADS) {
    a_squares += a[base + i] * a[base + i];
    b_squares += b[base + i] * b[base + i];
  }
  let a_inverse = 1.0 / sqrt(workgroup_sum(a_squares, lane) / f32(params.size) + params.eps);
  let b_inverse = 1.0 / sqrt(workgroup_sum(b_squares, lane) / f32(params.size) + params.eps);
  for (var i = lane; i < params.size; i += THREADS) {
    var av = a[base + i] * a_inverse;
    var bv = b[base + i] * b_inverse;
//#if A_WEIGHTED
    av = av * a_weight[i];
//#end
//#if B_WEIGHTED
    bv = bv * b_weight[i];
//#end
    out[base + i] = av + bv;
  }
}

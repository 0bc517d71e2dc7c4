// stats[t, h].y = Σ_d dout[t, h, d]·out[t, h, d]
//
// One workgroup for each head (x) of each token (y).

//#include "record/reduce.wgsl"

struct Params { heads: u32 }

@group(0) @binding(0) var<storage, read> out: array<f32>;
@group(0) @binding(1) var<storage, read> dout: array<f32>;
@group(0) @binding(2) var<storage, read_write> stats: array<vec2<f32>>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let cell = group.y * params.heads + group.x;
  var sum = 0.0;
  for (var i = lane; i < HEAD_DIM; i += THREADS) { sum += dout[cell * HEAD_DIM + i] * out[cell * HEAD_DIM + i]; }
  let total = workgroup_sum(sum, lane);
  if (lane == 0u) { stats[cell].y = total; }
}

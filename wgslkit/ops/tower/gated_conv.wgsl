// g[t, c] = x[t, c] · σ(x[t, size + c])
// y[t, c] = Σ over k < taps of w[c, k] · g[t + k − (taps − 1), c], with zeros before the first token
// out[t] = silu(rms(y[t]; norm))
//
// One workgroup for each token.

//#include "record/reduce.wgsl"

struct Params { size: u32, taps: u32, eps: f32 }

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> w: array<f32>;
@group(0) @binding(2) var<storage, read> norm: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

fn sigmoid(v: f32) -> f32 { return 1.0 / (1.0 + exp(-v)); }

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let t = group.y;
  let base = t * params.size;
  var squares = 0.0;
  for (var c = lane; c < params.size; c += THREADS) {
    var y = 0.0;
    for (var back = 0u; back < min(params.taps, t + 1u); back++) {
      let at = (t - back) * 2u * params.size + c;
      y += w[c * params.taps + params.taps - 1u - back] * x[at] * sigmoid(x[at + params.size]);
    }
    out[base + c] = y;
    squares += y * y;
  }
  let inverse = 1.0 / sqrt(workgroup_sum(squares, lane) / f32(params.size) + params.eps);
  for (var c = lane; c < params.size; c += THREADS) {
    let v = out[base + c] * inverse * norm[c]; // as this thread left it
    out[base + c] = v * sigmoid(v);
  }
}

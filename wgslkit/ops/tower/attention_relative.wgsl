// Attention to the token itself and up to WINDOW − 1 before it, with vectors for distances:
//   q̂ = q[t] ⊙ scale,  s[d] = c·tanh((key_scale · q̂·k[t − d] + q̂·distances[d]) / c),  d < WINDOW, d ≤ t
//   out[t] = Σ_d exp(s[d] − m)·v[t − d] / Σ_d exp(s[d] − m),  m = max s
//
// for each of `heads` heads of head_dim values; scale is the same for all. Rows
// of x hold the heads' q, then k, then v. Values are taken in fours where FOURS,
// and head_dim, offset and stride counted in them.
//
// One thread for each head of each token. Grid: x = workgroups, of all threads.

struct Params { heads: u32, head_dim: u32, x_offset: u32, x_stride: u32, key_scale: f32, softcap: f32 }

//#include "rowwise/activation.wgsl"

//#if FOURS
alias Value = vec4<f32>;
fn product(a: Value, b: Value) -> f32 { return dot(a, b); }
//#else
alias Value = f32;
fn product(a: Value, b: Value) -> f32 { return a * b; }
//#end

@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read> x: array<Value>;
@group(0) @binding(2) var<storage, read> scale: array<Value>;
@group(0) @binding(3) var<storage, read> distances: array<Value>; // [WINDOW, heads, head_dim]
@group(0) @binding(4) var<storage, read_write> out: array<Value>;
@group(0) @binding(5) var<uniform> params: Params;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let item = group.x * THREADS + lane;
  let token = item / params.heads;
  let head = item % params.heads;
  if (token >= state[1]) { return; }
  let size = params.heads * params.head_dim;
  let q = params.x_offset + token * params.x_stride + head * params.head_dim;
  let seen = min(WINDOW, token + 1u);

  var weights: array<f32, WINDOW>;
  var top = -1e30;
  for (var d = 0u; d < seen; d++) {
    let k = q + size - d * params.x_stride;
    let p = (d * params.heads + head) * params.head_dim;
    var of_key = 0.0;
    var of_distance = 0.0;
    for (var i = 0u; i < params.head_dim; i++) {
      let v = x[q + i] * scale[i];
      of_key += product(v, x[k + i]);
      of_distance += product(v, distances[p + i]);
    }
    weights[d] = softcapped(params.key_scale * of_key + of_distance, params.softcap);
    top = max(top, weights[d]);
  }
  var sum = 0.0;
  for (var d = 0u; d < seen; d++) {
    weights[d] = exp(weights[d] - top);
    sum += weights[d];
  }
  let to = token * size + head * params.head_dim;
  for (var i = 0u; i < params.head_dim; i++) {
    var v = weights[0] * x[q + 2u * size + i];
    for (var d = 1u; d < seen; d++) { v += weights[d] * x[q + 2u * size - d * params.x_stride + i]; }
    out[to + i] = v / sum;
  }
}

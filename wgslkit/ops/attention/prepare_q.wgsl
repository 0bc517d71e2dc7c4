// out[t, h] = scale · rope(rms(q[t, h]; head_weight), state[0] + t), each row padded with zeros to a multiple of 8
//
// One workgroup for each head (x) and token (y).

//#include "kvcache/head.wgsl"

struct Params { heads: u32, offset: u32, stride: u32, rotated: u32, normed: u32, eps: f32, scale: f32 }

@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read> q: array<f32>;
@group(0) @binding(2) var<storage, read> head_weight: array<f32>;
@group(0) @binding(3) var<storage, read> rope_table: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> out: array<f32>;
@group(0) @binding(5) var<uniform> params: Params;

const PADDED: u32 = (HEAD_DIM + 7u) / 8u * 8u;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let token = group.y;
  if (token >= state[1]) { return; }
  var squares = 0.0;
  for (var i = lane; i < HEAD_DIM; i += THREADS) {
    let x = q[params.offset + token * params.stride + group.x * HEAD_DIM + i];
    head_row[i] = x;
    squares += x * x;
  }
  head_normalise(squares, params.eps, params.normed != 0u, true, lane);
  let base = (token * params.heads + group.x) * PADDED;
  for (var i = lane; i < PADDED; i += THREADS) {
    var y = 0.0;
    if (i < HEAD_DIM) { y = params.scale * head_rotated(i, state[0] + token, params.rotated); }
    out[base + i] = y;
  }
}

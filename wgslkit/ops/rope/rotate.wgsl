// y[t, h] = x[t, h] with its pairs (n, n + rotated/2) turned by rope_turn(positions[t], n),
// or where BACK by the angle's opposite, which is also what the turn hands back;
// where ADD y[t, h] += it. What lies beyond `rotated` stays as it is.
//
// One thread for each value of a token: x = values, y = tokens.

struct Params { size: u32, head_dim: u32, rotated: u32 }

@group(0) @binding(0) var<storage, read> positions: array<u32>;
@group(0) @binding(1) var<storage, read> rope_table: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> x: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

//#include "rope.wgsl"

fn turned(at: u32, i: u32, position: u32) -> f32 {
  if (i >= params.rotated) { return x[at]; }
  let half = params.rotated / 2u;
  let n = i % half;
  var turn = rope_turn(position, n);
//#if BACK
  turn.y = -turn.y;
//#end
  if (i < half) { return x[at] * turn.x - x[at + half] * turn.y; }
  return x[at] * turn.x + x[at - half] * turn.y;
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = group.x * THREADS + lane;
  if (i >= params.size) { return; }
  let at = group.y * params.size + i;
  let v = turned(at, i % params.head_dim, positions[group.y]);
//#if ADD
  y[at] += v;
//#else
  y[at] = v;
//#end
}

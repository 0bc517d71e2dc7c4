// With g = gate[t, i], u = up[t, i] and gelu as activation.wgsl has it:
//   forward:       out[t, i] = gelu(g)·u
//   BACK == gate:  out[t, i] = dy[t, i]·u·gelu′(g)
//   BACK == up:    out[t, i] = dy[t, i]·gelu(g)
// and where ADD out[t, i] += it. gelu′(g) = ½(1 + tanh v) + ½g(1 − tanh² v)·v′ with
// v = √(2/π)(g + 0.044715g³). Element (t, i) stands at offset + t·row + i·column.
//
// One thread for each value: x = values, y = tokens.

struct Params {
  size: u32, gate_offset: u32, gate_row: u32, gate_column: u32,
  up_offset: u32, up_row: u32, up_column: u32, out_offset: u32,
  out_row: u32, out_column: u32,
}

@group(0) @binding(0) var<storage, read> gate: array<f32>;
@group(0) @binding(1) var<storage, read> up: array<f32>;
//#if BACK
@group(0) @binding(2) var<storage, read> dy: array<f32>; // [width, size]
@group(0) @binding(3) var<storage, read_write> out: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;
//#else
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;
//#end

//#include "activation.wgsl"

fn gelu_slope(x: f32) -> f32 {
  let t = bounded_tanh(0.7978845608 * (x + 0.044715 * x * x * x));
  return 0.5 * (1.0 + t) + 0.5 * x * (1.0 - t * t) * 0.7978845608 * (1.0 + 0.134145 * x * x);
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = group.x * THREADS + lane;
  let t = group.y;
  if (i >= params.size) { return; }
  let g = gate[params.gate_offset + t * params.gate_row + i * params.gate_column];
//#if BACK == up
  let v = dy[t * params.size + i] * activate(1u, g);
//#else
  let u = up[params.up_offset + t * params.up_row + i * params.up_column];
//#if BACK == gate
  let v = dy[t * params.size + i] * u * gelu_slope(g);
//#else
  let v = activate(1u, g) * u;
//#end
//#end
  let at = params.out_offset + t * params.out_row + i * params.out_column;
//#if ADD
  out[at] += v;
//#else
  out[at] = v;
//#end
}

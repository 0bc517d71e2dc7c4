// out[t, g, i] = Σ_j x[t, g·group + j, i] over j < group, or where ADD out[t, g, i] += it.
//
// One thread for each value of `rows` tokens, which are the same in every replay:
// x = values, y = tokens.

struct Params { size: u32, dim: u32, group: u32 }

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = workgroup.x * THREADS + lane;
  if (i >= params.size) { return; }
  let row = workgroup.y * params.size;
  let source = (row + i / params.dim * params.dim) * params.group + i % params.dim;
  var sum = 0.0;
  for (var j = 0u; j < params.group; j++) { sum += x[source + j * params.dim]; }
//#if ADD
  out[row + i] += sum;
//#else
  out[row + i] = sum;
//#end
}

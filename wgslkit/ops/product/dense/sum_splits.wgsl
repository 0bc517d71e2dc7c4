// out[t, i] = Σ_z parts[z][t][i], or where ADD out[t, i] += it: the sums that
// neighbouring workgroups have left of one product.
//
// One thread for each value: x = values, y = rows.

struct Params { size: u32, splits: u32, capacity: u32, out_offset: u32, out_stride: u32, out_step: u32 }

@group(0) @binding(0) var<storage, read> parts: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = group.x * THREADS + lane;
  let t = group.y;
  if (i >= params.size) { return; }
  var sum = 0.0;
  for (var z = 0u; z < params.splits; z++) { sum += parts[(z * params.capacity + t) * params.size + i]; }
  let at = params.out_offset + t * params.out_stride + i * params.out_step;
//#if ADD
  out[at] += sum;
//#else
  out[at] = sum;
//#end
}

// to[i] = from[i], for i < count: sixteen bytes a thread, grid-strided.

struct Params { count: u32 }

@group(0) @binding(0) var<storage, read> source: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read_write> destination: array<vec4<u32>>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>) {
  for (var i = id.x; i < params.count; i += workgroups.x * 256u) { destination[i] = source[i]; }
}

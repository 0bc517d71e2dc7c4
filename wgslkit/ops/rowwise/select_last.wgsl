// out[i] = x[offset + (width − 1)·stride + i], width being the replay's own.

struct Params { size: u32, offset: u32, stride: u32 }

@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x < params.size) {
    out[id.x] = x[params.offset + (max(state[1], 1u) - 1u) * params.stride + id.x];
  }
}

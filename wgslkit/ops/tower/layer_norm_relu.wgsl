// x ← max(0, (x − mean(x)) / sqrt(var(x) + eps) ⊙ w), for each group of `size` values of a token
//
// One thread for each group. Grid: x = threads of a token's groups, y = tokens.

struct Params { size: u32, groups: u32, eps: f32 }

@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read> w: array<f32>;
@group(0) @binding(2) var<storage, read_write> x: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let item = group.x * THREADS + lane;
  if (item >= params.groups || group.y >= state[1]) { return; }
  let at = (group.y * params.groups + item) * params.size;
  var sum = 0.0;
  for (var i = 0u; i < params.size; i++) { sum += x[at + i]; }
  let mean = sum / f32(params.size);
  var squares = 0.0;
  for (var i = 0u; i < params.size; i++) {
    let v = x[at + i] - mean;
    squares += v * v;
  }
  let inverse = 1.0 / sqrt(squares / f32(params.size) + params.eps);
  for (var i = 0u; i < params.size; i++) { x[at + i] = max(0.0, (x[at + i] - mean) * inverse * w[i]); }
}

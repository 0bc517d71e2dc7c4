// AdamW (Loshchilov and Hutter, "Decoupled Weight Decay Regularization"), with
// the gradients clipped by their global length:
//   g = grads·min(1, clip / (length + 1e-6)),  m = β₁m + (1 − β₁)g,  s = β₂s + (1 − β₂)g²
//   x = keep·x − rate·m / (√s / correction + ε)
// and the gradients become 0. Where the length is no number, that alone happens.
//
// settings: β₁, 1 − β₁, β₂, 1 − β₂, ε, keep, rate, correction, clip (0 for none).
// length stands in length[0].

struct Params { size: u32 }

@group(0) @binding(0) var<storage, read> settings: array<f32>;
@group(0) @binding(1) var<storage, read> length: array<f32>;
@group(0) @binding(2) var<storage, read_write> x: array<f32>;
@group(0) @binding(3) var<storage, read_write> grads: array<f32>;
@group(0) @binding(4) var<storage, read_write> first: array<f32>;
@group(0) @binding(5) var<storage, read_write> second: array<f32>;
@group(0) @binding(6) var<uniform> params: Params;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) lane: u32) {
  let size = length[0];
  // An exponent of ones is infinity or no number; comparisons may be taken for true.
  let moves = (bitcast<u32>(size) & 0x7f800000u) != 0x7f800000u;
  var factor = 1.0;
  if (settings[8] != 0.0) { factor = min(1.0, settings[8] / (size + 1e-6)); }
  for (var i = group.x * THREADS + lane; i < params.size; i += groups.x * THREADS) {
    if (moves) {
      let g = grads[i] * factor;
      let m = settings[0] * first[i] + settings[1] * g;
      let s = settings[2] * second[i] + settings[3] * g * g;
      first[i] = m;
      second[i] = s;
      x[i] = settings[5] * x[i] - settings[6] * m / (sqrt(s) / settings[7] + settings[4]);
    }
    grads[i] = 0.0;
  }
}

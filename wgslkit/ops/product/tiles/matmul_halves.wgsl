// The inputs of a product as float16, for matmul_matrix.wgsl and tiles of float16: row
// by row of a program's tokens, each by one workgroup,
//
//   halves[t, c] = half(clamp(x[t, c]) · s)      0 behind the last column
//   inverse[t]   = 1/s
//
// where s is the power of two that puts the largest of a token's inputs between 2¹⁴
// and 2¹⁵: no input is too large for float16, and none rounds worse than by the 11
// bits that its numbers have, or as 2⁻³⁹ of the largest.

//#enable f16

struct Params {
  cols: u32, // a multiple of 4
  steps: u32, // of 32 columns
  x_offset: u32,
  x_stride: u32,
  in_min: f32, // where BOUNDED
  in_max: f32,
}

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> halves: array<vec4<f16>>;
@group(0) @binding(2) var<storage, read_write> inverse: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

var<workgroup> largest: atomic<u32>; // its bits, which are in the order of the numbers

fn input(token: u32, four: u32) -> vec4<f32> {
  let v = x[(token * params.x_stride + params.x_offset) / 4u + four];
//#if BOUNDED
  return clamp(v, vec4<f32>(params.in_min), vec4<f32>(params.in_max));
//#else
  return v;
//#end
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let token = group.y;
//#if UNZEROED
  if (lane == 0u) { atomicStore(&largest, 0u); }
  workgroupBarrier();
//#end
  var most = vec4<f32>();
  for (var i = lane; i < params.cols / 4u; i += THREADS) { most = max(most, abs(input(token, i))); }
  atomicMax(&largest, bitcast<u32>(max(max(most.x, most.y), max(most.z, most.w))));
  workgroupBarrier();
  // The exponents, as they lie in a float32.
  let exponent = clamp(atomicLoad(&largest) >> 23u, 15u, 254u);
  let scale = bitcast<f32>((268u - exponent) << 23u);
  if (lane == 0u) { inverse[token] = bitcast<f32>((exponent - 14u) << 23u); }
  for (var i = lane; i < params.steps * 8u; i += THREADS) {
    var v = vec4<f32>();
    if (4u * i < params.cols) { v = input(token, i) * scale; }
    halves[token * params.steps * 8u + i] = vec4<f16>(v);
  }
}

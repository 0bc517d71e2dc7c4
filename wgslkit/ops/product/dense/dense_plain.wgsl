// out[m, n] = scale · Σ_k a[m, k]·b[k, n], or where ADD out[m, n] += it: dense.wgsl
// for devices on which what costs most is to compile a kernel.
//
// One thread for each value: x = n, y = m.

struct Params {
  m: u32, n: u32, k: u32, splits: u32,
  a_offset: u32, a_row: u32, a_column: u32, capacity: u32,
  b_offset: u32, b_row: u32, b_column: u32, scale: f32,
  out_offset: u32, out_row: u32, out_column: u32,
}

@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let n = group.x * THREADS + lane;
  let m = group.y;
  if (n >= params.n) { return; }
//#if SUMS_OVER_TOKENS
  let k = state[1];
//#else
  let k = params.k;
//#end
  var sum = 0.0;
  for (var i = 0u; i < k; i++) {
    sum += a[params.a_offset + m * params.a_row + i * params.a_column] *
      b[params.b_offset + i * params.b_row + n * params.b_column];
  }
  let at = params.out_offset + m * params.out_row + n * params.out_column;
//#if ADD
  out[at] += sum * params.scale;
//#else
  out[at] = sum * params.scale;
//#end
}

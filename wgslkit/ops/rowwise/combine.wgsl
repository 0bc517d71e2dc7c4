// out[t, i] = scale·(a[t, i] + b[t, i]), b left out where ONE, and where ADD
// out[t, i] += it. a and out may be columns of wider rows.
//
// One thread for each value: x = values, y = tokens.

struct Params { size: u32, scale: f32, a_row: u32, a_offset: u32, out_row: u32, out_offset: u32 }

@group(0) @binding(0) var<storage, read> a: array<f32>;
//#if ONE
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;
//#else
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;
//#end

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let i = group.x * THREADS + lane;
  if (i >= params.size) { return; }
  let source = group.y * params.a_row + params.a_offset + i;
  let at = group.y * params.out_row + params.out_offset + i;
//#if ONE
  let v = a[source] * params.scale;
//#else
  let v = (a[source] + b[group.y * params.size + i]) * params.scale;
//#end
//#if ADD
  out[at] += v;
//#else
  out[at] = v;
//#end
}

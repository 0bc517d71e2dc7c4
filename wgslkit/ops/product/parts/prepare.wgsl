// Rows of a program's tokens, each by one workgroup:
//
//   v = (x + rms(add_x; add_w)) · add_scale  → add_out    (ADD)
//   h = rms(v; norm_w) · norm_scale          → out        (NORM)
//
// Where SPREAD, h (or v, where not NORM) goes to where spread.wgsl says.

struct Params {
  cols: u32, x_offset: u32, x_stride: u32, flags: u32,
  add_eps: f32, add_scale: f32, norm_eps: f32, norm_scale: f32,
}

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> add_x: array<f32>;
@group(0) @binding(2) var<storage, read> add_w: array<f32>;
@group(0) @binding(3) var<storage, read> norm_w: array<f32>;
@group(0) @binding(4) var<storage, read_write> add_out: array<f32>;
@group(0) @binding(5) var<storage, read_write> out: array<f32>;
@group(0) @binding(6) var<uniform> params: Params;

//#include "input.wgsl"
//#if SPREAD
//#include "spread.wgsl"
//#end

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let t = group.y;
  var inverse = 0.0;
//#if ADD
  inverse = add_inverse(t, lane);
//#end
  var squares = 0.0;
  for (var i = lane; i < params.cols; i += THREADS) {
    let v = summed(t, i, inverse);
    squares += v * v;
//#if ADD
    add_out[t * params.cols + i] = v;
//#end
  }
//#if NORM
  let scale = norm_inverse(squares, lane);
//#else
  let scale = 1.0;
//#end
//#if OUT
  for (var i = lane; i < params.cols; i += THREADS) {
//#if ADD
    let v = add_out[t * params.cols + i]; // as this thread left it
//#else
    let v = summed(t, i, inverse);
//#end
//#if SPREAD
    out[spread_place(t, i)] = weighed(v, i) * scale;
//#else
    out[t * params.cols + i] = weighed(v, i) * scale;
//#end
  }
//#end
//#if SPREAD
  for (var i = params.cols + lane; i < SPREAD_COLUMNS; i += THREADS) { out[spread_place(t, i)] = 0.0; }
//#end
}

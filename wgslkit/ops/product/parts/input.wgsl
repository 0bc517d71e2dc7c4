// The input of a product, made on the way in:
//
//   v = (x + rms(add_x; add_w)) · add_scale     (ADD)
//   h = rms(v; norm_w) · norm_scale             (NORM)
//
// Uses THREADS and workgroup_sum, the bindings x, add_x, add_w and norm_w (or
// partials, where MERGE), and of params: cols, x_offset, x_stride, flags,
// add_eps, add_scale, norm_eps, norm_scale.

//#include "record/reduce.wgsl"
//#if MERGE
//#include "attention/merge.wgsl"
//#end

const ADD_WEIGHTED: u32 = 1u;  // of params.flags
const NORM_WEIGHTED: u32 = 2u;

//#if ADD
// add_inverse is add_scale / sqrt(mean(add_x²) + eps) of row t.
fn add_inverse(t: u32, lane: u32) -> f32 {
  var squares = 0.0;
  for (var i = lane; i < params.cols; i += THREADS) {
    let v = add_x[t * params.cols + i];
    squares += v * v;
  }
  return params.add_scale / sqrt(workgroup_sum(squares, lane) / f32(params.cols) + params.add_eps);
}
//#end

// summed is v[i] of row t; adding is add_inverse(t).
fn summed(t: u32, i: u32, adding: f32) -> f32 {
//#if MERGE
  return merged(i, params.heads, params.head_dim, params.splits);
//#else
  let v = x[t * params.x_stride + params.x_offset + i];
//#if ADD
  var a = add_x[t * params.cols + i] * adding;
  if ((params.flags & ADD_WEIGHTED) != 0u) { a = a * add_w[i]; }
  return v * params.add_scale + a;
//#else
  return v;
//#end
//#end
}

//#if NORM
// norm_inverse is norm_scale / sqrt(mean(v²) + eps), from each thread's share of Σ v².
fn norm_inverse(squares: f32, lane: u32) -> f32 {
  return params.norm_scale / sqrt(workgroup_sum(squares, lane) / f32(params.cols) + params.norm_eps);
}
//#end

// weighed is v[i] times its weight in the norm. A product may apply the
// norm's factor, norm_inverse, to its results instead of its inputs.
fn weighed(v: f32, i: u32) -> f32 {
//#if NORM
  if ((params.flags & NORM_WEIGHTED) != 0u) { return v * norm_w[i]; }
//#end
  return v;
}

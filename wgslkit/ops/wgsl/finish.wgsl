// What ends a product for many tokens: flag MULTIPLIED, softcap, the place in
// out; where BOUNDED, what its inputs and its sums are held within first.

//#include "activation.wgsl"

const MULTIPLIED: u32 = 4u; // of params.flags

// bounded_input is four inputs within their bounds.
fn bounded_input(v: vec4<f32>) -> vec4<f32> {
//#if BOUNDED
  return clamp(v, vec4<f32>(params.in_min), vec4<f32>(params.in_max));
//#else
  return v;
//#end
}

// bounded is the sum of row r of the matrix within its bounds, with its bias.
fn bounded(r: u32, sum: f32) -> f32 {
//#if BOUNDED
  let b = row_bounds[r];
  return clamp(sum, b.x, b.y) + b.z;
//#else
  return sum;
//#end
}

fn finish(t: u32, r: u32, value: f32) {
  var v = value;
  if ((params.flags & MULTIPLIED) != 0u) { v = v * mul[t * params.mul_stride + params.mul_offset + r]; }
  out[t * params.out_stride + params.out_offset + r] = softcapped(v, params.softcap);
}

// What a product's inputs and sums are held within where BOUNDED (ops.Bounds),
// and the flag and the activations of what follows them.

//#include "rowwise/activation.wgsl"

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

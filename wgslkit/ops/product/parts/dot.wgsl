// Products of a decoded unit with its inputs.

// Inputs is what a unit multiplies: the columns of its spans, and their sums.
struct Inputs {
  x: array<mat4x4<f32>, SPANS>,
  sum: vec4<f32>,
}

fn total(v: vec4<f32>) -> f32 { return (v.x + v.y) + (v.z + v.w); }

fn span_sum(x: mat4x4<f32>) -> f32 { return total((x[0] + x[1]) + (x[2] + x[3])); }

fn span_dot(q: mat4x4<f32>, x: mat4x4<f32>) -> f32 {
  return total(q[0] * x[0] + q[1] * x[1] + q[2] * x[2] + q[3] * x[3]);
}

fn unit_dot(w: Unit, in: Inputs) -> f32 {
  var dots = vec4<f32>(span_dot(w.q[0], in.x[0]), 0.0, 0.0, 0.0);
//#if SPANS == 2
  dots.y = span_dot(w.q[1], in.x[1]);
//#end
//#if SPANS == 4
  dots.y = span_dot(w.q[1], in.x[1]);
  dots.z = span_dot(w.q[2], in.x[2]);
  dots.w = span_dot(w.q[3], in.x[3]);
//#end
  return total(w.scale * dots + w.low * in.sum);
}

// inputs reads those of a unit through span_inputs, which the includer gives.
fn inputs(token: u32, unit: u32) -> Inputs {
  let a = span_inputs(token, unit, 0u);
//#if SPANS == 1
  return Inputs(array<mat4x4<f32>, 1>(a), vec4<f32>(span_sum(a), 0.0, 0.0, 0.0));
//#end
//#if SPANS == 2
  let b = span_inputs(token, unit, 1u);
  return Inputs(array<mat4x4<f32>, 2>(a, b), vec4<f32>(span_sum(a), span_sum(b), 0.0, 0.0));
//#end
//#if SPANS == 4
  let b = span_inputs(token, unit, 1u);
  let c = span_inputs(token, unit, 2u);
  let d = span_inputs(token, unit, 3u);
  return Inputs(array<mat4x4<f32>, 4>(a, b, c, d), vec4<f32>(span_sum(a), span_sum(b), span_sum(c), span_sum(d)));
//#end
}

// A row of inputs in workgroup memory, in the order in which units read it:
// the j-th vec4 of unit u is columns[j · UNITS + u], so that neighbouring
// threads, which read neighbouring units, do not collide.
//
// Uses CAPACITY, how many columns fit, a multiple of RUN and 16 · SPANS.

const UNITS: u32 = CAPACITY / UNIT;

const COLUMN_FOURS: u32 = CAPACITY / 4u;
var<workgroup> columns: array<vec4<f32>, COLUMN_FOURS>;

// place is where column i of those in memory lies; its component is i mod 4.
fn place(i: u32) -> u32 {
  let o = i % RUN;
  let unit = i / RUN * PER_RUN + o % STEP / 16u;
  return (o / STEP * 4u + i % 16u / 4u) * UNITS + unit;
}

// Inputs is what a unit multiplies: its columns and their sums by span.
struct Inputs {
  x: array<mat4x4<f32>, SPANS>,
  sum: vec4<f32>,
}

fn span_inputs(unit: u32, span: u32) -> mat4x4<f32> {
  let at = span * 4u * UNITS + unit;
  return mat4x4<f32>(columns[at], columns[at + UNITS], columns[at + 2u * UNITS], columns[at + 3u * UNITS]);
}

fn total(v: vec4<f32>) -> f32 { return (v.x + v.y) + (v.z + v.w); }

fn span_sum(x: mat4x4<f32>) -> f32 { return total((x[0] + x[1]) + (x[2] + x[3])); }

fn span_dot(q: mat4x4<f32>, x: mat4x4<f32>) -> f32 {
  return total(q[0] * x[0] + q[1] * x[1] + q[2] * x[2] + q[3] * x[3]);
}

fn inputs(unit: u32) -> Inputs {
  let a = span_inputs(unit, 0u);
//#if SPANS == 1
  return Inputs(array<mat4x4<f32>, 1>(a), vec4<f32>(span_sum(a), 0.0, 0.0, 0.0));
//#end
//#if SPANS != 1
  let b = span_inputs(unit, 1u);
//#end
//#if SPANS == 2
  return Inputs(array<mat4x4<f32>, 2>(a, b), vec4<f32>(span_sum(a), span_sum(b), 0.0, 0.0));
//#end
//#if SPANS == 4
  let c = span_inputs(unit, 2u);
  let d = span_inputs(unit, 3u);
  return Inputs(array<mat4x4<f32>, 4>(a, b, c, d), vec4<f32>(span_sum(a), span_sum(b), span_sum(c), span_sum(d)));
//#end
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

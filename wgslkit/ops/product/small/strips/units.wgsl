// A strip of any type is one unit of it.

//#include "weights/unit.wgsl"

const STRIP: u32 = UNIT;
const FOURS: u32 = 4u * SPANS;

var<private> in: array<vec4<f32>, FOURS>;

var<private> unit: u32;

fn load_strip(at: u32, strip: u32) {
  unit = min(strip, params.units - 1u);
  for (var i = 0u; i < FOURS; i++) { in[i] = inputs(at, span_column(strip, i / 4u) + 4u * (i % 4u)); }
}

fn span_dot(q: mat4x4<f32>, scale: f32, low: f32, i: u32) -> f32 {
  let dots = total(q[0] * in[i] + q[1] * in[i + 1u] + q[2] * in[i + 2u] + q[3] * in[i + 3u]);
  return scale * dots + low * total((in[i] + in[i + 1u]) + (in[i + 2u] + in[i + 3u]));
}

fn strip_dot(row: u32) -> f32 {
  let w = decode(row, unit);
  var sum = span_dot(w.q[0], w.scale.x, w.low.x, 0u);
//#if SPANS == 2
  sum += span_dot(w.q[1], w.scale.y, w.low.y, 4u);
//#end
//#if SPANS == 4
  sum += span_dot(w.q[1], w.scale.y, w.low.y, 4u);
  sum += span_dot(w.q[2], w.scale.z, w.low.z, 8u);
  sum += span_dot(w.q[3], w.scale.w, w.low.w, 12u);
//#end
  return sum;
}

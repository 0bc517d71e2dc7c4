// A row of inputs in workgroup memory, in the order in which units read it:
// the j-th vec4 of unit u is columns[j · UNITS + u], so that neighbouring
// threads, which read neighbouring units, do not collide.
//
// Uses CAPACITY, how many columns fit, a multiple of RUN and 16 · SPANS.

//#include "dot.wgsl"

const UNITS: u32 = CAPACITY / UNIT;
const COLUMN_FOURS: u32 = CAPACITY / 4u;

var<workgroup> columns: array<vec4<f32>, COLUMN_FOURS>;

// place is where column i of those in memory lies; its component is i mod 4.
fn place(i: u32) -> u32 {
  let o = i % RUN;
  let unit = i / RUN * PER_RUN + o % STEP / 16u;
  return (o / STEP * 4u + i % 16u / 4u) * UNITS + unit;
}

// span_inputs is of the one token whose inputs are in memory.
fn span_inputs(token: u32, unit: u32, span: u32) -> mat4x4<f32> {
  let at = span * 4u * UNITS + unit;
  return mat4x4<f32>(columns[at], columns[at + UNITS], columns[at + 2u * UNITS], columns[at + 3u * UNITS]);
}

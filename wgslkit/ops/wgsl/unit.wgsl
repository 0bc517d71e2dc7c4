// A unit is what one thread decodes at once: SPANS spans of 16 weights of a
// row, in the order that the block type packs them. With RUN = SPANS · STEP
// columns made of STEP/16 units, span s of unit u begins at column
//
//   u / (STEP/16) · RUN + u mod (STEP/16) · 16 + s · STEP
//
// and its weights are scale[s] · q[s] + low[s]. Each decode/<type>.wgsl gives
//
//   fn decode(row: u32, unit: u32) -> Unit
//
// with row in 16-byte words of the binding `weights`, where plane p of a row
// (ops.planesOf) begins params.plane<p> words further.

struct Unit {
  q: array<mat4x4<f32>, SPANS>,
  scale: vec4<f32>,
  low: vec4<f32>,
}

//#include "decode/${QUANT}.wgsl"

const PER_RUN: u32 = STEP / 16u;
const RUN: u32 = SPANS * STEP;
const UNIT: u32 = SPANS * 16u;

fn span_column(unit: u32, span: u32) -> u32 {
  return unit / PER_RUN * RUN + unit % PER_RUN * 16u + span * STEP;
}

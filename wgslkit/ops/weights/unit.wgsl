// A unit is what one thread decodes at once: SPANS spans of 16 weights of a
// row, in the order that the block type packs them. With RUN = SPANS · STEP
// columns made of STEP/16 units, span s of unit u begins at column
//
//   u / (STEP/16) · RUN + u mod (STEP/16) · 16 + s · STEP
//
// and its weights are scale[s] · q[s] + low[s]. Each decode/<type>.wgsl gives
//
//   fn packed(row: u32, unit: u32) -> Packed      what is read of a unit: a struct of words
//   fn unpacked(p: Packed, unit: u32) -> Unit     its weights
//
// with row in 16-byte words of the binding `weights`, where plane p of a row
// (ops.planesOf) begins params.plane<p> words further. So a kernel can read a
// unit some time before it needs its weights; decode does both at once.

struct Unit {
  q: array<mat4x4<f32>, SPANS>,
  scale: vec4<f32>,
  low: vec4<f32>,
}

//#if CODEBOOK
//#include "codebook.wgsl"
//#end
//#include "decode/${QUANT}.wgsl"

fn decode(row: u32, unit: u32) -> Unit { return unpacked(packed(row, unit), unit); }

const PER_RUN: u32 = STEP / 16u;
const RUN: u32 = SPANS * STEP;
const UNIT: u32 = SPANS * 16u;

fn span_column(unit: u32, span: u32) -> u32 {
  return unit / PER_RUN * RUN + unit % PER_RUN * 16u + span * STEP;
}

// What matmul_large.wgsl and matmul_plain.wgsl read and write: parameters, bindings
// and where a token's inputs begin.

struct Params {
  rows: u32,  // of the tile of W, a multiple of 4
  first: u32, // its first row, too
  cols: u32,  // a multiple of 16
  units: u32, // in a row

  row_size: u32,
  plane1: u32,
  plane2: u32,
  flags: u32,

  x_offset: u32,
  x_stride: u32,
  out_offset: u32,
  out_stride: u32,

  mul_offset: u32,
  mul_stride: u32,
  act: u32,
  softcap: f32,

  splits: u32,
  capacity: u32,
  in_min: f32, // where BOUNDED
  in_max: f32,
//#if LOW_RANK
  low: LowRank,
//#end
}

@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read> weights: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read> x: array<Four>;
@group(0) @binding(3) var<storage, read> mul: array<f32>;
//#if PAIRED_OUT
@group(0) @binding(4) var<storage, read_write> out: array<vec2<f32>>;
//#else
@group(0) @binding(4) var<storage, read_write> out: array<vec4<f32>>;
//#end

//#include "tile_sums.wgsl"
//#include "many_bindings.wgsl"
//#include "unit.wgsl"
//#include "bounds.wgsl"
//#if LOW_RANK
//#include "low_rank.wgsl"
//#end
//#if !SPLIT
//#include "finish_four.wgsl"
//#end

// token_at is where a token's inputs begin, in fours.
fn token_at(token: u32) -> u32 { return (token * params.x_stride + params.x_offset) / 4u; }

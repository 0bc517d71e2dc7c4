// What matmul_large.wgsl and matmul_plain.wgsl read and write: parameters, bindings
// and where a token's inputs begin.

//#include "params.wgsl"

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
//#include "weights/unit.wgsl"
//#include "bounds.wgsl"
//#if LOW_RANK
//#include "low_rank.wgsl"
//#end
//#if !SPLIT
//#include "finish_four.wgsl"
//#end

// token_at is where a token's inputs begin, in fours.
fn token_at(token: u32) -> u32 { return (token * params.x_stride + params.x_offset) / 4u; }

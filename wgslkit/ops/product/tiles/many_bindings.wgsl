// What a product of many tokens binds behind its output, and the inputs and sums of
// float16, where HALF_TILES (matmul_halves.wgsl). The includer has Params and x, of Four.

//#if BOUNDED
@group(0) @binding(5) var<storage, read> row_bounds: array<vec4<f32>>;
//#if HALF_TILES
@group(0) @binding(6) var<storage, read> factors: array<f32>;
@group(0) @binding(7) var<uniform> params: Params;
//#else
@group(0) @binding(6) var<uniform> params: Params;
//#end
//#else
//#if LOW_RANK
@group(0) @binding(5) var<storage, read> low_u: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read> low_b: array<vec4<f32>>;
@group(0) @binding(7) var<uniform> params: Params;
//#else
//#if HALF_TILES
@group(0) @binding(5) var<storage, read> factors: array<f32>;
@group(0) @binding(6) var<uniform> params: Params;
//#else
@group(0) @binding(5) var<uniform> params: Params;
//#end
//#end
//#end

// input_of is four inputs within their bounds, where halves are already.
fn input_of(v: Four) -> vec4<f32> {
//#if HALF_TILES
  return vec4<f32>(v);
//#else
  return bounded_input(v);
//#end
}

// unscaled is sums of token t without the factor that its inputs have.
fn unscaled(t: u32, sums: vec4<f32>) -> vec4<f32> {
//#if HALF_TILES
  return sums * factors[t];
//#else
  return sums;
//#end
}

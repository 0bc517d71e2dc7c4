// Ends a product whose columns were split (matmul_large.wgsl): the sums of all
// splits, [split][token][row], added up. One thread for four rows of a token:
// x = threads, y = tokens.
//
// Where TILE is set, the sums are those of matmul_matrix.wgsl, with room for whole
// tiles of as many rows, and each token's have a factor.

//#include "params.wgsl"

@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read> sums: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> mul: array<f32>;
//#if PAIRED_OUT
@group(0) @binding(3) var<storage, read_write> out: array<vec2<f32>>;
//#else
@group(0) @binding(3) var<storage, read_write> out: array<vec4<f32>>;
//#end
//#if BOUNDED
@group(0) @binding(4) var<storage, read> row_bounds: array<vec4<f32>>;
//#if TILE
@group(0) @binding(5) var<storage, read> factors: array<f32>;
@group(0) @binding(6) var<uniform> params: Params;
//#else
@group(0) @binding(5) var<uniform> params: Params;
//#end
//#else
//#if TILE
@group(0) @binding(4) var<storage, read> factors: array<f32>;
@group(0) @binding(5) var<uniform> params: Params;
//#else
@group(0) @binding(4) var<uniform> params: Params;
//#end
//#end

//#include "finish_four.wgsl"

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let four = group.x * THREADS + lane;
  let token = group.y;
  if (4u * four >= params.rows || token >= state[1]) { return; }
//#if TILE
  let pitch = (params.rows + TILE - 1u) / TILE * TILE;
//#else
  let pitch = params.rows;
//#end
  var sum = vec4<f32>();
  for (var s = 0u; s < params.splits; s++) { sum += sums[((s * params.capacity + token) * pitch) / 4u + four]; }
//#if TILE
  sum *= factors[token];
//#end
  finish_four(token, params.first + 4u * four, sum);
}

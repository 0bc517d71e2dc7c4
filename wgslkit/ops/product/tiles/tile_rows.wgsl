// A tile of 64 rows in workgroup memory, 16 columns at a time, that 64 threads decode.

//#include "tile_sums.wgsl"

var<workgroup> rows_at: array<Four, 256>; // [16 columns][64 rows]

// store_rows puts 16 weights of row `thread` into memory.
fn store_rows(q: mat4x4<f32>, scale: f32, low: f32, thread: u32) {
  let at = thread / 4u;
  let c = thread % 4u;
  var v = Four(q[0] * scale + vec4<f32>(low));
  rows_at[at][c] = v.x; rows_at[at + 16u][c] = v.y; rows_at[at + 32u][c] = v.z; rows_at[at + 48u][c] = v.w;
  v = Four(q[1] * scale + vec4<f32>(low));
  rows_at[at + 64u][c] = v.x; rows_at[at + 80u][c] = v.y; rows_at[at + 96u][c] = v.z; rows_at[at + 112u][c] = v.w;
  v = Four(q[2] * scale + vec4<f32>(low));
  rows_at[at + 128u][c] = v.x; rows_at[at + 144u][c] = v.y; rows_at[at + 160u][c] = v.z; rows_at[at + 176u][c] = v.w;
  v = Four(q[3] * scale + vec4<f32>(low));
  rows_at[at + 192u][c] = v.x; rows_at[at + 208u][c] = v.y; rows_at[at + 224u][c] = v.z; rows_at[at + 240u][c] = v.w;
}

// What a product adds to the sums of its rows where LOW_RANK (ops.LowRank):
//
//   W[r]·h[t] + Σ_k b[r, k]·u[t, k]
//
// Rows are in parts, each of which has columns of u and a matrix b of its own. All
// counts are of vectors of four. Uses the bindings low_u and low_b, and params.low.

struct LowRank {
  parts: array<vec4<u32>, 3>, // of each: first row, first of u's columns, how many, where b begins
  stride: u32,                // of u, from token to token
  first: u32,                 // what the matrix's row 0 is among the parts' rows
  paired: u32,                // 1 where rows of two parts take turns
}

// LowRow is a row's share of u and b.
struct LowRow { u: u32, count: u32, b: u32 }

fn low_row(r: u32) -> LowRow {
  var row = r + params.low.first;
  var p = params.low.parts[0];
  if (params.low.paired != 0u) {
    p = params.low.parts[row & 1u];
    row = row / 2u;
  } else {
    if (row >= params.low.parts[1].x) { p = params.low.parts[1]; }
    if (row >= params.low.parts[2].x) { p = params.low.parts[2]; }
    row -= p.x;
  }
  return LowRow(p.y, p.z, p.w + row * p.z);
}

// low_rank is what row r of the matrix gets for token t.
fn low_rank(t: u32, r: u32) -> f32 {
  let row = low_row(r);
  let u = t * params.low.stride + row.u;
  var sum = 0.0;
  for (var k = 0u; k < row.count; k++) { sum += dot(low_b[row.b + k], low_u[u + k]); }
  return sum;
}

// Tiles take u's columns behind those of x, and b behind the weights.

// low_four is four of b's columns, of which a row has those of its part alone.
fn low_four(row: LowRow, k: u32) -> vec4<f32> {
  if (k < row.u || k >= row.u + row.count) { return vec4<f32>(); }
  return low_b[row.b + k - row.u];
}

fn low_sixteen(row: LowRow, k: u32) -> mat4x4<f32> {
  return mat4x4<f32>(low_four(row, k), low_four(row, k + 1u), low_four(row, k + 2u), low_four(row, k + 3u));
}

// low_inputs is four of u's columns.
fn low_inputs(t: u32, k: u32) -> vec4<f32> {
  if (k >= params.low.stride) { return vec4<f32>(); }
  return low_u[t * params.low.stride + k];
}

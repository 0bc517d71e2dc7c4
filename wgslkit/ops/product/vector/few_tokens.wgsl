// Products of a span of ROWS rows (2 or 4) with the inputs of four tokens. Each
// weight is decoded whole, since it is used so often, and a column of the rows'
// weights is multiplied with one input at a time: nothing is left to be added up
// across a vector.
//
// x is as spread.wgsl lays it out: vector v of unit u of token t of a group of
// TOKENS lies at (v · TOKENS + t) · COUNT + u, so that neighbouring threads, which
// read neighbouring units, read neighbouring words.
//
// Uses x, TOKENS and COUNT.

//#if ROWS == 4
alias OfRows = vec4<f32>;
//#else
alias OfRows = vec2<f32>;
//#end

// Sums is the rows' for each of four tokens.
struct Sums { a: OfRows, b: OfRows, c: OfRows, d: OfRows }

// Weights is a span of each row; where ROWS is 2, c and d are not used.
struct Weights { a: mat4x4<f32>, b: mat4x4<f32>, c: mat4x4<f32>, d: mat4x4<f32> }

// decoded is the weights of a span.
fn decoded(q: mat4x4<f32>, scale: f32, low: f32) -> mat4x4<f32> {
  let l = vec4<f32>(low);
  return mat4x4<f32>(q[0] * scale + l, q[1] * scale + l, q[2] * scale + l, q[3] * scale + l);
}

const VECTOR_STRIDE: u32 = TOKENS * COUNT;

// add_four adds the products of four columns, of which row a has the weights a.
fn add_four(s: Sums, a: vec4<f32>, b: vec4<f32>, c: vec4<f32>, d: vec4<f32>, at: u32) -> Sums {
//#if ROWS == 4
  let w0 = OfRows(a.x, b.x, c.x, d.x);
  let w1 = OfRows(a.y, b.y, c.y, d.y);
  let w2 = OfRows(a.z, b.z, c.z, d.z);
  let w3 = OfRows(a.w, b.w, c.w, d.w);
//#else
  let w0 = OfRows(a.x, b.x);
  let w1 = OfRows(a.y, b.y);
  let w2 = OfRows(a.z, b.z);
  let w3 = OfRows(a.w, b.w);
//#end
  let x0 = x[at];
  let x1 = x[at + COUNT];
  let x2 = x[at + 2u * COUNT];
  let x3 = x[at + 3u * COUNT];
  return Sums(
    s.a + w0 * x0.x + w1 * x0.y + w2 * x0.z + w3 * x0.w,
    s.b + w0 * x1.x + w1 * x1.y + w2 * x1.z + w3 * x1.w,
    s.c + w0 * x2.x + w1 * x2.y + w2 * x2.z + w3 * x2.w,
    s.d + w0 * x3.x + w1 * x3.y + w2 * x3.z + w3 * x3.w);
}

// add_span adds the products of a span; the first token's first inputs are at `at`.
fn add_span(s: Sums, w: Weights, at: u32) -> Sums {
  let one = add_four(s, w.a[0], w.b[0], w.c[0], w.d[0], at);
  let two = add_four(one, w.a[1], w.b[1], w.c[1], w.d[1], at + VECTOR_STRIDE);
  let three = add_four(two, w.a[2], w.b[2], w.c[2], w.d[2], at + 2u * VECTOR_STRIDE);
  return add_four(three, w.a[3], w.b[3], w.c[3], w.d[3], at + 3u * VECTOR_STRIDE);
}

// Sums of products of float32.

/** total is the sum of the four lanes. */
// @ts-ignore: decorator
@inline
export function total(v: v128): f32 {
  const pairs = f32x4.add(v, v128.shuffle<f32>(v, v, 2, 3, 0, 1));
  return f32x4.extract_lane(pairs, 0) + f32x4.extract_lane(pairs, 1);
}

/**
 * dot is Σ aᵢ·bᵢ. Four sums run side by side, so that an addition need not wait
 * for the one before it.
 */
export function dot(a: usize, b: usize, n: i32): f32 {
  let s0 = f32x4.splat(0), s1 = s0, s2 = s0, s3 = s0;
  let i = 0;
  for (; i + 16 <= n; i += 16, a += 64, b += 64) {
    s0 = f32x4.add(s0, f32x4.mul(v128.load(a), v128.load(b)));
    s1 = f32x4.add(s1, f32x4.mul(v128.load(a, 16), v128.load(b, 16)));
    s2 = f32x4.add(s2, f32x4.mul(v128.load(a, 32), v128.load(b, 32)));
    s3 = f32x4.add(s3, f32x4.mul(v128.load(a, 48), v128.load(b, 48)));
  }
  for (; i + 4 <= n; i += 4, a += 16, b += 16) s0 = f32x4.add(s0, f32x4.mul(v128.load(a), v128.load(b)));
  let sum = total(f32x4.add(f32x4.add(s0, s1), f32x4.add(s2, s3)));
  for (; i < n; i++, a += 4, b += 4) sum += load<f32>(a) * load<f32>(b);
  return sum;
}

/** axpy is y = y + alpha·x. */
export function axpy(alpha: f32, x: usize, y: usize, n: i32): void {
  const factor = f32x4.splat(alpha);
  let i = 0;
  for (; i + 4 <= n; i += 4, x += 16, y += 16) v128.store(y, f32x4.add(v128.load(y), f32x4.mul(factor, v128.load(x))));
  for (; i < n; i++, x += 4, y += 4) store<f32>(y, load<f32>(y) + alpha * load<f32>(x));
}

/**
 * mul is y = x·wᵀ: w is [rows, cols], x [tokens, cols], and token t's results
 * begin at y + t·stride. Four rows are taken at a time, with two tokens.
 */
export function mul(y: usize, stride: i32, w: usize, x: usize, rows: i32, cols: i32, tokens: i32): void {
  const row = <usize>cols << 2, step = <usize>stride << 2;
  let r = 0;
  for (; r + 4 <= rows; r += 4, w += row << 2, y += 16) {
    let t = 0;
    let xt = x, yt = y;
    for (; t + 2 <= tokens; t += 2, xt += row << 1, yt += step << 1) fourByTwo(yt, yt + step, w, xt, cols);
    if (t < tokens) fourByOne(yt, w, xt, cols);
  }
  for (; r < rows; r++, w += row, y += 4) {
    for (let t = 0, xt = x, yt = y; t < tokens; t++, xt += row, yt += step) store<f32>(yt, dot(w, xt, cols));
  }
}

/** fourByOne is four rows times one vector. */
function fourByOne(y: usize, w: usize, x: usize, cols: i32): void {
  const row = <usize>cols << 2;
  let s0 = f32x4.splat(0), s1 = s0, s2 = s0, s3 = s0;
  let w0 = w, w1 = w + row, w2 = w1 + row, w3 = w2 + row;
  let c = 0;
  for (; c + 4 <= cols; c += 4, w0 += 16, w1 += 16, w2 += 16, w3 += 16, x += 16) {
    const v = v128.load(x);
    s0 = f32x4.add(s0, f32x4.mul(v128.load(w0), v));
    s1 = f32x4.add(s1, f32x4.mul(v128.load(w1), v));
    s2 = f32x4.add(s2, f32x4.mul(v128.load(w2), v));
    s3 = f32x4.add(s3, f32x4.mul(v128.load(w3), v));
  }
  let y0 = total(s0), y1 = total(s1), y2 = total(s2), y3 = total(s3);
  for (; c < cols; c++, w0 += 4, w1 += 4, w2 += 4, w3 += 4, x += 4) {
    const v = load<f32>(x);
    y0 += load<f32>(w0) * v;
    y1 += load<f32>(w1) * v;
    y2 += load<f32>(w2) * v;
    y3 += load<f32>(w3) * v;
  }
  store<f32>(y, y0);
  store<f32>(y, y1, 4);
  store<f32>(y, y2, 8);
  store<f32>(y, y3, 12);
}

/** fourByTwo is four rows times two vectors: eight sums are what the registers hold. */
function fourByTwo(ya: usize, yb: usize, w: usize, a: usize, cols: i32): void {
  const row = <usize>cols << 2;
  const whole = cols & ~3;
  let a0 = f32x4.splat(0), a1 = a0, a2 = a0, a3 = a0, b0 = a0, b1 = a0, b2 = a0, b3 = a0;
  let w0 = w, w1 = w + row, w2 = w1 + row, w3 = w2 + row, b = a + row;
  for (let c = 0; c < whole; c += 4, w0 += 16, w1 += 16, w2 += 16, w3 += 16, a += 16, b += 16) {
    const va = v128.load(a), vb = v128.load(b);
    let v = v128.load(w0);
    a0 = f32x4.add(a0, f32x4.mul(v, va));
    b0 = f32x4.add(b0, f32x4.mul(v, vb));
    v = v128.load(w1);
    a1 = f32x4.add(a1, f32x4.mul(v, va));
    b1 = f32x4.add(b1, f32x4.mul(v, vb));
    v = v128.load(w2);
    a2 = f32x4.add(a2, f32x4.mul(v, va));
    b2 = f32x4.add(b2, f32x4.mul(v, vb));
    v = v128.load(w3);
    a3 = f32x4.add(a3, f32x4.mul(v, va));
    b3 = f32x4.add(b3, f32x4.mul(v, vb));
  }
  const rest = cols - whole;
  store<f32>(ya, total(a0) + plainDot(w0, a, rest));
  store<f32>(ya, total(a1) + plainDot(w1, a, rest), 4);
  store<f32>(ya, total(a2) + plainDot(w2, a, rest), 8);
  store<f32>(ya, total(a3) + plainDot(w3, a, rest), 12);
  store<f32>(yb, total(b0) + plainDot(w0, b, rest));
  store<f32>(yb, total(b1) + plainDot(w1, b, rest), 4);
  store<f32>(yb, total(b2) + plainDot(w2, b, rest), 8);
  store<f32>(yb, total(b3) + plainDot(w3, b, rest), 12);
}

/** plainDot is dot for fewer than four values. */
// @ts-ignore: decorator
@inline
function plainDot(a: usize, b: usize, n: i32): f32 {
  let sum: f32 = 0;
  for (let i = 0; i < n; i++, a += 4, b += 4) sum += load<f32>(a) * load<f32>(b);
  return sum;
}

/** scores are yⱼ = q·kⱼ, for n keys of dim values, stride values apart. */
export function scores(y: usize, q: usize, k: usize, stride: i32, n: i32, dim: i32): void {
  for (let j = 0; j < n; j++, y += 4, k += <usize>stride << 2) store<f32>(y, dot(q, k, dim));
}

/** weightedSum adds Σ pⱼ·vⱼ to y, for n values of dim numbers, stride numbers apart. */
export function weightedSum(y: usize, p: usize, v: usize, stride: i32, n: i32, dim: i32): void {
  const step = <usize>stride << 2;
  let c = 0;
  for (; c + 16 <= dim; c += 16, y += 64, v += 64) sixteenWide(y, p, v, step, n);
  for (; c < dim; c++, y += 4, v += 4) {
    let sum = load<f32>(y);
    for (let j = 0, at = v, pj = p; j < n; j++, at += step, pj += 4) sum += load<f32>(pj) * load<f32>(at);
    store<f32>(y, sum);
  }
}

function sixteenWide(y: usize, p: usize, v: usize, step: usize, n: i32): void {
  let s0 = v128.load(y), s1 = v128.load(y, 16), s2 = v128.load(y, 32), s3 = v128.load(y, 48);
  for (let j = 0; j < n; j++, v += step, p += 4) {
    const weight = v128.load32_splat(p);
    s0 = f32x4.add(s0, f32x4.mul(weight, v128.load(v)));
    s1 = f32x4.add(s1, f32x4.mul(weight, v128.load(v, 16)));
    s2 = f32x4.add(s2, f32x4.mul(weight, v128.load(v, 32)));
    s3 = f32x4.add(s3, f32x4.mul(weight, v128.load(v, 48)));
  }
  v128.store(y, s0);
  v128.store(y, s1, 16);
  v128.store(y, s2, 32);
  v128.store(y, s3, 48);
}

// Vectors in fixed point, for products with quantized weights: multiplying and
// adding sixteen-bit integers takes half as many instructions as converting the
// weights to float32 and multiplying those.
//
// A block of up to 256 values shares a unit, its largest magnitude / 2²⁶, and each
// value is unit·(2¹³·high + low) with −2¹³ ≤ high ≤ 2¹³ and 0 ≤ low < 2¹³. That is
// finer than float32 is for all but small values, and no sum here overflows.
//
//	   0  high   [256]int16
//	 512  low    [256]int16
//	1024  unit   float32, and three of padding
//	1040  sums   [8]float32   of each run of 32 values
//	1072  16 bytes for whoever multiplies
//
// The values lie in the order in which weights come out of their bytes: of each
// run of 16, those of even index and then those of odd index.

export const block: usize = 1088;
export const lowAt: usize = 512;
export const unitAt: usize = 1024;
export const sumsAt: usize = 1040;
export const spareAt: usize = 1072;

/** prepare writes x, n values in whole runs of 32, as such blocks. */
export function prepare(dst: usize, x: usize, n: i32): void {
  for (; n > 0; n -= 256, dst += block, x += 1024) {
    const values = min(n, 256);
    const largest = magnitude(x, values);
    // So small a vector is nothing; its inverse would be infinite.
    const unit: f32 = largest < 1e-30 ? 0 : largest / 67108864;
    const inverse = f32x4.splat(unit == 0 ? 0 : 67108864 / largest);
    store<f32>(dst + unitAt, unit);
    for (let i = 0; i < values; i += 16) sixteen(dst + (<usize>i << 1), x + (<usize>i << 2), inverse);
    for (let i = 0; i < values; i += 32) store<f32>(dst + sumsAt + (<usize>i >> 3), sum(x + (<usize>i << 2)));
  }
}

function magnitude(x: usize, n: i32): f32 {
  let top = f32x4.splat(0);
  for (; n > 0; n -= 4, x += 16) top = f32x4.max(top, f32x4.abs(v128.load(x)));
  top = f32x4.max(top, v128.shuffle<f32>(top, top, 2, 3, 0, 1));
  return max(f32x4.extract_lane(top, 0), f32x4.extract_lane(top, 1));
}

// @ts-ignore: decorator
@inline
function sixteen(dst: usize, x: usize, inverse: v128): void {
  const a = v128.load(x), b = v128.load(x, 16), c = v128.load(x, 32), d = v128.load(x, 48);
  eight(dst, v128.shuffle<f32>(a, b, 0, 2, 4, 6), v128.shuffle<f32>(c, d, 0, 2, 4, 6), inverse);
  eight(dst + 16, v128.shuffle<f32>(a, b, 1, 3, 5, 7), v128.shuffle<f32>(c, d, 1, 3, 5, 7), inverse);
}

// @ts-ignore: decorator
@inline
function eight(dst: usize, a: v128, b: v128, inverse: v128): void {
  const mask = i32x4.splat(8191);
  const v = i32x4.trunc_sat_f32x4_s(f32x4.nearest(f32x4.mul(a, inverse)));
  const w = i32x4.trunc_sat_f32x4_s(f32x4.nearest(f32x4.mul(b, inverse)));
  v128.store(dst, i16x8.narrow_i32x4_s(i32x4.shr_s(v, 13), i32x4.shr_s(w, 13)));
  v128.store(dst, i16x8.narrow_i32x4_s(v128.and(v, mask), v128.and(w, mask)), lowAt);
}

function sum(x: usize): f32 {
  const a = f32x4.add(f32x4.add(v128.load(x), v128.load(x, 16)), f32x4.add(v128.load(x, 32), v128.load(x, 48)));
  const b = f32x4.add(f32x4.add(v128.load(x, 64), v128.load(x, 80)), f32x4.add(v128.load(x, 96), v128.load(x, 112)));
  const v = f32x4.add(a, b);
  const pairs = f32x4.add(v, v128.shuffle<f32>(v, v, 2, 3, 0, 1));
  return f32x4.extract_lane(pairs, 0) + f32x4.extract_lane(pairs, 1);
}

/** joined is 2¹³·high + low, as float32. */
// @ts-ignore: decorator
@inline
export function joined(high: v128, low: v128): v128 {
  return f32x4.add(f32x4.mul(f32x4.convert_i32x4_s(high), f32x4.splat(8192)), f32x4.convert_i32x4_s(low));
}

/** dots is the products of a run's 16 weights, even and odd ones, with its high or low parts. */
// @ts-ignore: decorator
@inline
export function dots(even: v128, odd: v128, at: usize): v128 {
  return i32x4.add(i32x4.dot_i16x8_s(even, v128.load(at)), i32x4.dot_i16x8_s(odd, v128.load(at, 16)));
}

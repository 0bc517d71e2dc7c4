// Norms. The sum and the factor are float64, as in norm.go.

/** factor is 1 / √(mean(x²) + ε). */
function factor(x: usize, n: i32, eps: f32): f64 {
  let a = f64x2.splat(0), b = a;
  let i = 0;
  for (; i + 4 <= n; i += 4, x += 16) {
    const v = v128.load(x);
    const low = f64x2.promote_low_f32x4(v), high = f64x2.promote_low_f32x4(v128.shuffle<f32>(v, v, 2, 3, 0, 1));
    a = f64x2.add(a, f64x2.mul(low, low));
    b = f64x2.add(b, f64x2.mul(high, high));
  }
  a = f64x2.add(a, b);
  let sum = f64x2.extract_lane(a, 0) + f64x2.extract_lane(a, 1);
  for (; i < n; i++, x += 4) sum += <f64>load<f32>(x) * <f64>load<f32>(x);
  return 1 / Math.sqrt(sum / <f64>n + <f64>eps);
}

/** times is v·scale, rounded to float32 once. */
// @ts-ignore: decorator
@inline
function times(v: v128, scale: v128): v128 {
  const low = f32x4.demote_f64x2_zero(f64x2.mul(f64x2.promote_low_f32x4(v), scale));
  const high = f32x4.demote_f64x2_zero(f64x2.mul(f64x2.promote_low_f32x4(v128.shuffle<f32>(v, v, 2, 3, 0, 1)), scale));
  return v128.shuffle<f32>(low, high, 0, 1, 4, 5);
}

/** rmsNorm is y = x / √(mean(x²) + ε) ⊙ w for so many vectors of n values; y may be x. */
export function rmsNorm(y: usize, x: usize, w: usize, n: i32, vectors: i32, eps: f32): void {
  for (; vectors > 0; vectors--) {
    const scale = factor(x, n, eps), scales = f64x2.splat(scale);
    let i = 0, at = w;
    for (; i + 4 <= n; i += 4, x += 16, y += 16, at += 16) {
      v128.store(y, f32x4.mul(times(v128.load(x), scales), v128.load(at)));
    }
    for (; i < n; i++, x += 4, y += 4, at += 4) store<f32>(y, <f32>(<f64>load<f32>(x) * scale) * load<f32>(at));
  }
}

/** rmsNormPlain is rmsNorm without weights. */
export function rmsNormPlain(y: usize, x: usize, n: i32, vectors: i32, eps: f32): void {
  for (; vectors > 0; vectors--) {
    const scale = factor(x, n, eps), scales = f64x2.splat(scale);
    let i = 0;
    for (; i + 4 <= n; i += 4, x += 16, y += 16) v128.store(y, times(v128.load(x), scales));
    for (; i < n; i++, x += 4, y += 4) store<f32>(y, <f32>(<f64>load<f32>(x) * scale));
  }
}

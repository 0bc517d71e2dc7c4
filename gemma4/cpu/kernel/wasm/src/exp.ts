// Exponential functions of four values, after Cephes (expf.c, tanhf.c): errors of
// one or two units in the last place.

/** exp is eˣ, for x held within what float32 can express. */
// @ts-ignore: decorator
@inline
export function exp(x: v128): v128 {
  x = f32x4.max(f32x4.min(x, f32x4.splat(88.3762626647949)), f32x4.splat(-87.3365447505531));
  const n = f32x4.nearest(f32x4.mul(x, f32x4.splat(1.44269504088896341)));
  // ln 2 in two parts, the first of which is exact times any n.
  let r = f32x4.sub(x, f32x4.mul(n, f32x4.splat(0.693359375)));
  r = f32x4.sub(r, f32x4.mul(n, f32x4.splat(-2.12194440e-4)));
  let p = f32x4.splat(1.9875691500e-4);
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(1.3981999507e-3));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(8.3334519073e-3));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(4.1665795894e-2));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(1.6666665459e-1));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(5.0000001201e-1));
  p = f32x4.add(f32x4.add(f32x4.mul(p, f32x4.mul(r, r)), r), f32x4.splat(1));
  return f32x4.mul(p, i32x4.shl(i32x4.add(i32x4.trunc_sat_f32x4_s(n), i32x4.splat(127)), 23));
}

/** tanh is a polynomial near 0, and 1 − 2/(e²ˣ + 1) with the sign of x elsewhere. */
// @ts-ignore: decorator
@inline
export function tanh(x: v128): v128 {
  const one = f32x4.splat(1), magnitude = f32x4.abs(x);
  const square = f32x4.mul(x, x);
  let p = f32x4.splat(-5.70498872745e-3);
  p = f32x4.add(f32x4.mul(p, square), f32x4.splat(2.06390887954e-2));
  p = f32x4.add(f32x4.mul(p, square), f32x4.splat(-5.37397155531e-2));
  p = f32x4.add(f32x4.mul(p, square), f32x4.splat(1.33314422036e-1));
  p = f32x4.add(f32x4.mul(p, square), f32x4.splat(-3.33332819422e-1));
  const near = f32x4.add(f32x4.mul(f32x4.mul(p, square), x), x);
  const far = f32x4.sub(one, f32x4.div(f32x4.splat(2), f32x4.add(exp(f32x4.add(magnitude, magnitude)), one)));
  const signed = v128.or(far, v128.and(x, i32x4.splat(0x80000000)));
  return v128.bitselect(near, signed, f32x4.lt(magnitude, f32x4.splat(0.625)));
}

// exp(x) for −29 ≤ x ≤ 0, to about 1e-7 on every device: WGSL allows its own
// exp errors that grow with |x|. x = n·ln 2 + r, and the Taylor series of exp(r)
// to r⁷ errs by less than 1e-8 for |r| ≤ ½ ln 2.
fn exp_small(x: f32) -> f32 {
  let n = round(x * 1.44269504);
  // ln 2 in two parts, the first of so few bits that its product with n is exact.
  let r = (x - n * 0.693359375) + n * 2.12194440e-4;
  var sum = 1.0 + r / 7.0;
  sum = 1.0 + sum * r / 6.0;
  sum = 1.0 + sum * r / 5.0;
  sum = 1.0 + sum * r / 4.0;
  sum = 1.0 + sum * r / 3.0;
  sum = 1.0 + sum * r / 2.0;
  sum = 1.0 + sum * r;
  return sum * bitcast<f32>(u32(i32(n) + 127) << 23u);
}

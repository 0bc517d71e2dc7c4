// Small integers that a block scales.

/** scaled stores 16 signed bytes times scale. */
// @ts-ignore: decorator
@inline
export function scaled(dst: usize, q: v128, scale: v128): void {
  const low = i16x8.extend_low_i8x16_s(q), high = i16x8.extend_high_i8x16_s(q);
  v128.store(dst, f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(low)), scale));
  v128.store(dst, f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(low)), scale), 16);
  v128.store(dst, f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_s(high)), scale), 32);
  v128.store(dst, f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_s(high)), scale), 48);
}

/** affine stores 16 unsigned bytes times scale, plus low. */
// @ts-ignore: decorator
@inline
export function affine(dst: usize, q: v128, scale: v128, low: v128): void {
  const a = i16x8.extend_low_i8x16_u(q), b = i16x8.extend_high_i8x16_u(q);
  v128.store(dst, f32x4.add(f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_u(a)), scale), low));
  v128.store(dst, f32x4.add(f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_u(a)), scale), low), 16);
  v128.store(dst, f32x4.add(f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_u(b)), scale), low), 32);
  v128.store(dst, f32x4.add(f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_u(b)), scale), low), 48);
}

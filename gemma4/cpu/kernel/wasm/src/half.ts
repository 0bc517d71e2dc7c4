// Float16, by the same steps as quant/half.go.

const rebias: f32 = reinterpret<f32>((127 + 112) << 23); // 2^112

/** half is the value of the float16 at an address. */
// @ts-ignore: decorator
@inline
export function half(at: usize): f32 {
  const bits = <u32>load<u16>(at);
  let magnitude = reinterpret<u32>(reinterpret<f32>((bits & 0x7fff) << 13) * rebias);
  if ((bits & 0x7c00) == 0x7c00) magnitude |= 0x7f800000;
  return reinterpret<f32>(magnitude | (bits & 0x8000) << 16);
}

/** halves are the values of the four float16 at an address. */
// @ts-ignore: decorator
@inline
export function halves(at: usize): v128 {
  const bits = v128.load16x4_u(at);
  const magnitude = i32x4.shl(v128.and(bits, i32x4.splat(0x7fff)), 13);
  const value = f32x4.mul(magnitude, f32x4.splat(rebias));
  const special = v128.and(i32x4.ge_s(magnitude, i32x4.splat(0x7c00 << 13)), i32x4.splat(0x7f800000));
  const sign = i32x4.shl(v128.and(bits, i32x4.splat(0x8000)), 16);
  return v128.or(v128.or(value, special), sign);
}

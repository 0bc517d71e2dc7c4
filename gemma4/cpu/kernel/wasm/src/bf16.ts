import { total } from "./products";

/** decodeBF16 is the values of n bfloat16, the upper halves of float32. */
export function decodeBF16(dst: usize, src: usize, n: i32): void {
  for (; n >= 4; n -= 4, dst += 16, src += 8) v128.store(dst, i32x4.shl(v128.load16x4_u(src), 16));
  for (; n > 0; n--, dst += 4, src += 2) store<u32>(dst, <u32>load<u16>(src) << 16);
}

/** dotBF16 is the product of a row of n weights with a vector of float32. */
export function dotBF16(w: usize, x: usize, n: i32): f32 {
  let a = f32x4.splat(0), b = a;
  for (; n >= 8; n -= 8, w += 16, x += 32) {
    a = f32x4.add(a, f32x4.mul(i32x4.shl(v128.load16x4_u(w), 16), v128.load(x)));
    b = f32x4.add(b, f32x4.mul(i32x4.shl(v128.load16x4_u(w, 8), 16), v128.load(x, 16)));
  }
  let sum = total(f32x4.add(a, b));
  for (; n > 0; n--, w += 2, x += 4) sum += reinterpret<f32>(<u32>load<u16>(w) << 16) * load<f32>(x);
  return sum;
}

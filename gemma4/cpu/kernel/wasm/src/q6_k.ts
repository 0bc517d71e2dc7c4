import { block, dots, joined, lowAt, unitAt } from "./fixed";
import { half } from "./half";
import { scaled } from "./levels";
import { total } from "./products";

/** decodeQ6_K: 256 values in 210 bytes (quant/q6_k.go draws the layout). */
export function decodeQ6_K(dst: usize, src: usize, n: i32): void {
  for (; n > 0; n -= 256, dst += 1024, src += 210) {
    const d = half(src + 208);
    for (let h = 0; h < 2; h++) {
      const at = dst + (h << 9), scales = src + 192 + (h << 3);
      quarters(at, src + (h << 6), src + 128 + (h << 5), scales, d);
      quarters(at + 64, src + (h << 6) + 16, src + 144 + (h << 5), scales + 1, d);
    }
  }
}

/** quarters decodes 16 values of each quarter of a half block, which lie 32 apart and have a scale each. */
// @ts-ignore: decorator
@inline
function quarters(dst: usize, ql: usize, qh: usize, scales: usize, d: f32): void {
  const low0 = v128.load(ql), low1 = v128.load(ql, 32), high = v128.load(qh);
  const nibbles = i8x16.splat(15), pairs = i8x16.splat(0x30), zero = i8x16.splat(32);
  const left = i8x16.shl(high, 4);
  const q0 = v128.or(v128.and(low0, nibbles), v128.and(left, pairs));
  const q1 = v128.or(v128.and(low1, nibbles), v128.and(i8x16.shl(high, 2), pairs));
  const q2 = v128.or(i8x16.shr_u(low0, 4), v128.and(high, pairs));
  const q3 = v128.or(i8x16.shr_u(low1, 4), v128.and(i8x16.shr_u(high, 2), pairs));
  scaled(dst, i8x16.sub(q0, zero), f32x4.splat(d * <f32>load<i8>(scales)));
  scaled(dst + 128, i8x16.sub(q1, zero), f32x4.splat(d * <f32>load<i8>(scales, 2)));
  scaled(dst + 256, i8x16.sub(q2, zero), f32x4.splat(d * <f32>load<i8>(scales, 4)));
  scaled(dst + 384, i8x16.sub(q3, zero), f32x4.splat(d * <f32>load<i8>(scales, 6)));
}

/**
 * dotQ6_K is the product of a row of n weights with a prepared vector. A level
 * times its scale is at most 2¹² in magnitude, so that the sum of half a block
 * stays within 2³⁰.
 */
export function dotQ6_K(w: usize, x: usize, n: i32): f32 {
  let sum = f32x4.splat(0);
  for (; n > 0; n -= 256, x += block, w += 210) {
    const factor = f32x4.splat(half(w + 208) * load<f32>(x + unitAt));
    sum = f32x4.add(sum, f32x4.mul(halfBlock(w, w + 128, w + 192, x), factor));
    sum = f32x4.add(sum, f32x4.mul(halfBlock(w + 64, w + 160, w + 200, x + 256), factor));
  }
  return total(sum);
}

// @ts-ignore: decorator
@inline
function halfBlock(ql: usize, qh: usize, scales: usize, x: usize): v128 {
  let high = i32x4.splat(0), low = high;
  const nibbles = i8x16.splat(15), pairs = i8x16.splat(0x30), byte = i16x8.splat(255), zero = i16x8.splat(32);
  for (let s: usize = 0; s < 2; s++) {
    const low0 = v128.load(ql + (s << 4)), low1 = v128.load(ql + (s << 4), 32), top = v128.load(qh + (s << 4));
    const run = x + (s << 5), scale = scales + s;
    // What a shift of words carries from one byte into the next, the masks take away.
    let q = v128.or(v128.and(low0, nibbles), v128.and(i16x8.shl(top, 4), pairs));
    let f = i16x8.splat(load<i8>(scale));
    let even = i16x8.mul(i16x8.sub(v128.and(q, byte), zero), f), odd = i16x8.mul(i16x8.sub(i16x8.shr_u(q, 8), zero), f);
    high = i32x4.add(high, dots(even, odd, run));
    low = i32x4.add(low, dots(even, odd, run + lowAt));

    q = v128.or(v128.and(low1, nibbles), v128.and(i16x8.shl(top, 2), pairs));
    f = i16x8.splat(load<i8>(scale, 2));
    even = i16x8.mul(i16x8.sub(v128.and(q, byte), zero), f), odd = i16x8.mul(i16x8.sub(i16x8.shr_u(q, 8), zero), f);
    high = i32x4.add(high, dots(even, odd, run + 64));
    low = i32x4.add(low, dots(even, odd, run + lowAt + 64));

    q = v128.or(v128.and(i16x8.shr_u(low0, 4), nibbles), v128.and(top, pairs));
    f = i16x8.splat(load<i8>(scale, 4));
    even = i16x8.mul(i16x8.sub(v128.and(q, byte), zero), f), odd = i16x8.mul(i16x8.sub(i16x8.shr_u(q, 8), zero), f);
    high = i32x4.add(high, dots(even, odd, run + 128));
    low = i32x4.add(low, dots(even, odd, run + lowAt + 128));

    q = v128.or(v128.and(i16x8.shr_u(low1, 4), nibbles), v128.and(i16x8.shr_u(top, 2), pairs));
    f = i16x8.splat(load<i8>(scale, 6));
    even = i16x8.mul(i16x8.sub(v128.and(q, byte), zero), f), odd = i16x8.mul(i16x8.sub(i16x8.shr_u(q, 8), zero), f);
    high = i32x4.add(high, dots(even, odd, run + 192));
    low = i32x4.add(low, dots(even, odd, run + lowAt + 192));
  }
  return joined(high, low);
}

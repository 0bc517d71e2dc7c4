import { block, dots, joined, lowAt, unitAt } from "./fixed";
import { half } from "./half";
import { scaled } from "./levels";
import { total } from "./products";

/** decodeQ8_0: 32 values in 34 bytes, a float16 and 32 signed bytes (quant/q8_0.go). */
export function decodeQ8_0(dst: usize, src: usize, n: i32): void {
  for (; n > 0; n -= 32, dst += 128, src += 34) {
    const d = f32x4.splat(half(src));
    scaled(dst, v128.load(src, 2), d);
    scaled(dst + 64, v128.load(src, 18), d);
  }
}

/** dotQ8_0 is the product of a row of n weights with a prepared vector. */
export function dotQ8_0(w: usize, x: usize, n: i32): f32 {
  let sum = f32x4.splat(0);
  for (; n > 0; n -= 256, x += block) {
    const unit = load<f32>(x + unitAt);
    const values = min(n, 256);
    for (let i = 0, at = x; i < values; i += 32, at += 64, w += 34) {
      const a = v128.load(w, 2), b = v128.load(w, 18);
      const even0 = i16x8.shr_s(i16x8.shl(a, 8), 8), odd0 = i16x8.shr_s(a, 8);
      const even1 = i16x8.shr_s(i16x8.shl(b, 8), 8), odd1 = i16x8.shr_s(b, 8);
      const high = i32x4.add(dots(even0, odd0, at), dots(even1, odd1, at + 32));
      const low = i32x4.add(dots(even0, odd0, at + lowAt), dots(even1, odd1, at + lowAt + 32));
      sum = f32x4.add(sum, f32x4.mul(joined(high, low), f32x4.splat(half(w) * unit)));
    }
  }
  return total(sum);
}

import { block, dots, joined, lowAt, sumsAt, unitAt } from "./fixed";
import { half } from "./half";
import { affine } from "./levels";
import { total } from "./products";

/** decodeQ4_K: 256 values in 144 bytes (quant/q4_k.go draws the layout, quant/affine.go that of the scales). */
export function decodeQ4_K(dst: usize, src: usize, n: i32): void {
  for (; n > 0; n -= 256, dst += 1024, src += 144) {
    const d = half(src), dmin = -half(src + 2);
    const a = load<u32>(src, 4), b = load<u32>(src, 8), c = load<u32>(src, 12);
    // Four scales or lows to a word, a byte each.
    const scales0 = a & 0x3f3f3f3f, scales1 = c & 0x0f0f0f0f | (a >> 6 & 0x03030303) << 4;
    const lows0 = b & 0x3f3f3f3f, lows1 = c >> 4 & 0x0f0f0f0f | (b >> 6 & 0x03030303) << 4;
    for (let j = 0; j < 4; j++) {
      const shift = (j & 1) << 4;
      const scales = (j < 2 ? scales0 : scales1) >> shift, lows = (j < 2 ? lows0 : lows1) >> shift;
      pair(dst + (j << 8), src + 16 + (j << 5), d * <f32>(scales & 255), dmin * <f32>(lows & 255), d * <f32>(scales >> 8 & 255), dmin * <f32>(lows >> 8 & 255));
    }
  }
}

/** pair decodes 32 bytes: a sub-block of 32 values in the low nibbles, the next one in the high ones. */
// @ts-ignore: decorator
@inline
function pair(dst: usize, qs: usize, scale: f32, low: f32, nextScale: f32, nextLow: f32): void {
  const q0 = v128.load(qs), q1 = v128.load(qs, 16), nibbles = i8x16.splat(15);
  let s = f32x4.splat(scale), l = f32x4.splat(low);
  affine(dst, v128.and(q0, nibbles), s, l);
  affine(dst + 64, v128.and(q1, nibbles), s, l);
  s = f32x4.splat(nextScale);
  l = f32x4.splat(nextLow);
  affine(dst + 128, i8x16.shr_u(q0, 4), s, l);
  affine(dst + 192, i8x16.shr_u(q1, 4), s, l);
}

/**
 * dotQ4_K is the product of a row of n weights with a prepared vector. A level
 * times its scale is at most 945, so that a block's sum stays below 2²⁹. The lows
 * are taken times the sums of the values that they belong to.
 */
export function dotQ4_K(w: usize, x: usize, n: i32): f32 {
  let sum = f32x4.splat(0);
  for (; n > 0; n -= 256, x += block, w += 144) {
    const a = load<u32>(w, 4), b = load<u32>(w, 8), c = load<u32>(w, 12);
    const scales = words(a & 0x3f3f3f3f, c & 0x0f0f0f0f | (a >> 6 & 0x03030303) << 4);
    const lows = words(b & 0x3f3f3f3f, c >> 4 & 0x0f0f0f0f | (b >> 6 & 0x03030303) << 4);
    let high = i32x4.splat(0), low = high;
    const nibble = i16x8.splat(15);
    for (let k: usize = 0; k < 2; k++) {
      // Two pairs of sub-blocks, 64 bytes; the scales are in the first or second half.
      const four = k == 0 ? scales : v128.shuffle<i64>(scales, scales, 1, 0);
      const qs = w + 16 + (k << 6), at = x + (k << 8);
      let s = v128.shuffle<i16>(four, four, 0, 0, 0, 0, 0, 0, 0, 0), t = v128.shuffle<i16>(four, four, 1, 1, 1, 1, 1, 1, 1, 1);
      for (let j: usize = 0; j < 2; j++) {
        const q = qs + (j << 5), xs = at + (j << 7);
        for (let i: usize = 0; i < 2; i++) {
          const v = v128.load(q + (i << 4));
          const even0 = i16x8.mul(v128.and(v, nibble), s), odd0 = i16x8.mul(v128.and(i16x8.shr_u(v, 8), nibble), s);
          const even1 = i16x8.mul(v128.and(i16x8.shr_u(v, 4), nibble), t), odd1 = i16x8.mul(i16x8.shr_u(v, 12), t);
          const run = xs + (i << 5);
          high = dots(dots(high, even0, odd0, run), even1, odd1, run + 64);
          low = dots(dots(low, even0, odd0, run + lowAt), even1, odd1, run + lowAt + 64);
        }
        s = v128.shuffle<i16>(four, four, 2, 2, 2, 2, 2, 2, 2, 2);
        t = v128.shuffle<i16>(four, four, 3, 3, 3, 3, 3, 3, 3, 3);
      }
    }
    sum = f32x4.add(sum, f32x4.mul(joined(high, low), f32x4.splat(half(w) * load<f32>(x + unitAt))));
    const below = f32x4.add(
      f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_low_i16x8_u(lows)), v128.load(x + sumsAt)),
      f32x4.mul(f32x4.convert_i32x4_s(i32x4.extend_high_i16x8_u(lows)), v128.load(x + sumsAt, 16)));
    sum = f32x4.sub(sum, f32x4.mul(below, f32x4.splat(half(w + 2))));
  }
  return total(sum);
}

/** words are the eight bytes of two words, as sixteen-bit integers. */
// @ts-ignore: decorator
@inline
function words(a: u32, b: u32): v128 {
  return i16x8.extend_low_i8x16_u(i64x2.splat(<i64>a | <i64>b << 32));
}

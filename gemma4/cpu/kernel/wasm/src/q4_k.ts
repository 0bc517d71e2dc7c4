import { block, dots, joined, lowAt, spareAt, sumsAt, unitAt } from "./fixed";
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
      pair(dst + (j << 8), src + 16 + (j << 5), d * <f32>(scales & 255), dmin * <f32>(lows & 255),
        d * <f32>(scales >> 8 & 255), dmin * <f32>(lows >> 8 & 255));
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
    v128.store(x, scales, spareAt);
    let high = i32x4.splat(0), low = high;
    const nibble = i16x8.splat(15);
    // 32 bytes are two sub-blocks, each with two runs of 16 values.
    for (let pair: usize = 0; pair < 4; pair++) {
      const q = w + 16 + (pair << 5), run = x + (pair << 7);
      const s = v128.load16_splat(x + (pair << 2), spareAt), t = v128.load16_splat(x + (pair << 2), spareAt + 2);
      let v = v128.load(q);
      let even0 = i16x8.mul(v128.and(v, nibble), s), odd0 = i16x8.mul(v128.and(i16x8.shr_u(v, 8), nibble), s);
      let even1 = i16x8.mul(v128.and(i16x8.shr_u(v, 4), nibble), t), odd1 = i16x8.mul(i16x8.shr_u(v, 12), t);
      high = i32x4.add(high, i32x4.add(dots(even0, odd0, run), dots(even1, odd1, run + 64)));
      low = i32x4.add(low, i32x4.add(dots(even0, odd0, run + lowAt), dots(even1, odd1, run + lowAt + 64)));
      v = v128.load(q, 16);
      even0 = i16x8.mul(v128.and(v, nibble), s), odd0 = i16x8.mul(v128.and(i16x8.shr_u(v, 8), nibble), s);
      even1 = i16x8.mul(v128.and(i16x8.shr_u(v, 4), nibble), t), odd1 = i16x8.mul(i16x8.shr_u(v, 12), t);
      high = i32x4.add(high, i32x4.add(dots(even0, odd0, run + 32), dots(even1, odd1, run + 96)));
      low = i32x4.add(low, i32x4.add(dots(even0, odd0, run + lowAt + 32), dots(even1, odd1, run + lowAt + 96)));
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

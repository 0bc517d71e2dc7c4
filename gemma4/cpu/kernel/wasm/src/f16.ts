import { half, halves } from "./half";

/** decodeF16 is the values of n float16. */
export function decodeF16(dst: usize, src: usize, n: i32): void {
  for (; n >= 4; n -= 4, dst += 16, src += 8) v128.store(dst, halves(src));
  for (; n > 0; n--, dst += 4, src += 2) store<f32>(dst, half(src));
}

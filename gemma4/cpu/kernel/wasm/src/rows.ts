// Products with rows of weights as a file stores them.
import { decodeBF16, dotBF16 } from "./bf16";
import { decodeF16 } from "./f16";
import { prepare } from "./fixed";
import { decodeQ4_K, dotQ4_K } from "./q4_k";
import { decodeQ6_K, dotQ6_K } from "./q6_k";
import { decodeQ8_0, dotQ8_0 } from "./q8_0";

// ggml's numbers of the types that are known here, as in Go's package quant.
const F16 = 1, Q8_0 = 8, Q4_K = 12, Q6_K = 14, BF16 = 30;

/** decode is the values of n weights, whole blocks, as quant.Dequantize makes them, bit for bit. */
export function decode(type: i32, dst: usize, src: usize, n: i32): void {
  switch (type) {
    case F16: decodeF16(dst, src, n); break;
    case BF16: decodeBF16(dst, src, n); break;
    case Q8_0: decodeQ8_0(dst, src, n); break;
    case Q4_K: decodeQ4_K(dst, src, n); break;
    case Q6_K: decodeQ6_K(dst, src, n); break;
    default: unreachable();
  }
}

/**
 * mulRows is yᵣ = wᵣ·x for rows of rowBytes each. scratch has room for the
 * prepared vector: a block of 1088 bytes for each 256 values begun.
 */
export function mulRows(
  type: i32, y: usize, w: usize, rowBytes: i32, x: usize, rows: i32, cols: i32, scratch: usize,
): void {
  if (type == BF16) {
    for (let r = 0; r < rows; r++, w += rowBytes, y += 4) store<f32>(y, dotBF16(w, x, cols));
    return;
  }
  prepare(scratch, x, cols);
  switch (type) {
    case Q8_0: for (let r = 0; r < rows; r++, w += rowBytes, y += 4) store<f32>(y, dotQ8_0(w, scratch, cols)); break;
    case Q4_K: for (let r = 0; r < rows; r++, w += rowBytes, y += 4) store<f32>(y, dotQ4_K(w, scratch, cols)); break;
    case Q6_K: for (let r = 0; r < rows; r++, w += rowBytes, y += 4) store<f32>(y, dotQ6_K(w, scratch, cols)); break;
    default: unreachable();
  }
}

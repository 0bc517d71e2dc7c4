import { exp, tanh } from "./exp";

/** rest loads n < 4 values, and zeros behind them. */
// @ts-ignore: decorator
@inline
function rest(at: usize, n: i32): v128 {
  let v = f32x4.splat(0);
  if (n > 0) v = f32x4.replace_lane(v, 0, load<f32>(at));
  if (n > 1) v = f32x4.replace_lane(v, 1, load<f32>(at, 4));
  if (n > 2) v = f32x4.replace_lane(v, 2, load<f32>(at, 8));
  return v;
}

// @ts-ignore: decorator
@inline
function storeRest(at: usize, v: v128, n: i32): void {
  if (n > 0) store<f32>(at, f32x4.extract_lane(v, 0));
  if (n > 1) store<f32>(at, f32x4.extract_lane(v, 1), 4);
  if (n > 2) store<f32>(at, f32x4.extract_lane(v, 2), 8);
}

/**
 * gelu is x·σ(2u) with u = √(2/π)·(x + 0.044715·x³): the tanh form, written so
 * that nothing cancels. What is next to nothing is 0: subnormal numbers would take
 * processors a hundred times as long in the products that follow.
 */
// @ts-ignore: decorator
@inline
function gelu(x: v128): v128 {
  const cube = f32x4.mul(f32x4.mul(x, x), x);
  const inner = f32x4.add(x, f32x4.mul(f32x4.splat(0.044715), cube));
  const e = exp(f32x4.mul(f32x4.splat(-2 * 0.7978845608028654), inner));
  return v128.and(f32x4.div(x, f32x4.add(f32x4.splat(1), e)), f32x4.lt(e, f32x4.splat(1e20)));
}

/** gatedGelu is gate = gelu(gate) ⊙ up. */
export function gatedGelu(gate: usize, up: usize, n: i32): void {
  for (; n >= 4; n -= 4, gate += 16, up += 16) v128.store(gate, f32x4.mul(gelu(v128.load(gate)), v128.load(up)));
  storeRest(gate, f32x4.mul(gelu(rest(gate, n)), rest(up, n)), n);
}

/** softcap is x = cap·tanh(x / cap). */
export function softcap(x: usize, n: i32, cap: f32): void {
  const c = f32x4.splat(cap);
  for (; n >= 4; n -= 4, x += 16) v128.store(x, f32x4.mul(c, tanh(f32x4.div(v128.load(x), c))));
  storeRest(x, f32x4.mul(c, tanh(f32x4.div(rest(x, n), c))), n);
}

/** softmax is x = exp(x − max), for n > 0, and returns the sum of that. */
export function softmax(x: usize, n: i32): f64 {
  const top = f32x4.splat(largest(x, n));
  let sum = f64x2.splat(0);
  for (; n >= 4; n -= 4, x += 16) {
    const e = exp(f32x4.sub(v128.load(x), top));
    v128.store(x, e);
    const high = v128.shuffle<f32>(e, e, 2, 3, 0, 1);
    sum = f64x2.add(sum, f64x2.add(f64x2.promote_low_f32x4(e), f64x2.promote_low_f32x4(high)));
  }
  let rested = f64x2.extract_lane(sum, 0) + f64x2.extract_lane(sum, 1);
  const e = exp(f32x4.sub(rest(x, n), top));
  storeRest(x, e, n);
  for (; n > 0; n--, x += 4) rested += <f64>load<f32>(x);
  return rested;
}

function largest(x: usize, n: i32): f32 {
  let top = v128.load32_splat(x);
  for (; n >= 4; n -= 4, x += 16) top = f32x4.max(top, v128.load(x));
  for (; n > 0; n--, x += 4) top = f32x4.max(top, v128.load32_splat(x));
  top = f32x4.max(top, v128.shuffle<f32>(top, top, 2, 3, 0, 1));
  return max(f32x4.extract_lane(top, 0), f32x4.extract_lane(top, 1));
}

// A mass is a probability before it is normalised, exp(l − largest) ≤ 1, in
// units of 2⁻⁴⁰: a 64-bit integer (low, high). Sums of integers are exact in any
// order, which keeps a choice the same from run to run.

fn mass_of(p: f32) -> vec2<u32> {
  let scaled = p * 256.0;
  let high = floor(scaled);
  return vec2<u32>(u32((scaled - high) * 4294967296.0), u32(high));
}

fn mass_float(m: vec2<u32>) -> f32 { return f32(m.y) / 256.0 + f32(m.x) / 1099511627776.0; }

fn plus(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  let low = a.x + b.x;
  return vec2<u32>(low, a.y + b.y + select(0u, 1u, low < a.x));
}

fn minus(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> {
  return vec2<u32>(a.x - b.x, a.y - b.y - select(0u, 1u, a.x < b.x));
}

fn less(a: vec2<u32>, b: vec2<u32>) -> bool { return a.y < b.y || (a.y == b.y && a.x < b.x); }

fn least(a: vec2<u32>, b: vec2<u32>) -> vec2<u32> { return select(b, a, less(a, b)); }

// product is a · b in full.
fn product(a: u32, b: u32) -> vec2<u32> {
  let al = a & 0xffffu;
  let ah = a >> 16u;
  let bl = b & 0xffffu;
  let bh = b >> 16u;
  let low = al * bl;
  let mid = ah * bl + (low >> 16u);
  let cross = al * bh + (mid & 0xffffu);
  return vec2<u32>((cross << 16u) | (low & 0xffffu), ah * bh + (mid >> 16u) + (cross >> 16u));
}

// part is ⌊a · fraction / 2³²⌋, and whether anything was cut off.
struct Part { whole: vec2<u32>, cut: bool }

fn part(a: vec2<u32>, fraction: u32) -> Part {
  let low = product(a.x, fraction);
  let high = product(a.y, fraction);
  return Part(plus(high, vec2<u32>(low.y, 0u)), low.x != 0u);
}

// top_p_target is the largest mass that does not reach the fraction of total yet.
fn top_p_target(total: vec2<u32>, fraction: u32) -> vec2<u32> {
  let reach = part(total, fraction);
  if (reach.cut || (reach.whole.x | reach.whole.y) == 0u) { return reach.whole; }
  return minus(reach.whole, vec2<u32>(1u, 0u));
}

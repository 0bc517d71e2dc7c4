// A strip is 128 columns of a row, STRIP units. A thread that takes a strip
// at once reads less: what the units of a block share, it reads once.

const STRIP: u32 = 8u / SPANS;

struct StripInputs {
  a: Inputs, b: Inputs,
//#if SPANS != 4
  c: Inputs, d: Inputs,
//#end
//#if SPANS == 1
  e: Inputs, f: Inputs, g: Inputs, h: Inputs,
//#end
}

struct StripWeights {
  a: Unit, b: Unit,
//#if SPANS != 4
  c: Unit, d: Unit,
//#end
//#if SPANS == 1
  e: Unit, f: Unit, g: Unit, h: Unit,
//#end
}

fn strip_inputs(token: u32, u: u32) -> StripInputs {
  return StripInputs(
    inputs(token, u), inputs(token, u + 1u),
//#if SPANS != 4
    inputs(token, u + 2u), inputs(token, u + 3u),
//#end
//#if SPANS == 1
    inputs(token, u + 4u), inputs(token, u + 5u), inputs(token, u + 6u), inputs(token, u + 7u),
//#end
  );
}

// strip_weights is the strip from unit u on; beyond the row are copies of its
// last unit, for which inputs are zeros.
fn strip_weights(row: u32, u: u32) -> StripWeights {
  let last = params.units - 1u;
  return StripWeights(
    decode(row, min(u, last)), decode(row, min(u + 1u, last)),
//#if SPANS != 4
    decode(row, min(u + 2u, last)), decode(row, min(u + 3u, last)),
//#end
//#if SPANS == 1
    decode(row, min(u + 4u, last)), decode(row, min(u + 5u, last)), decode(row, min(u + 6u, last)),
    decode(row, min(u + 7u, last)),
//#end
  );
}

fn strip_dot(w: StripWeights, in: StripInputs) -> f32 {
  var sum = unit_dot(w.a, in.a) + unit_dot(w.b, in.b);
//#if SPANS != 4
  sum += unit_dot(w.c, in.c) + unit_dot(w.d, in.d);
//#end
//#if SPANS == 1
  sum += unit_dot(w.e, in.e) + unit_dot(w.f, in.f) + unit_dot(w.g, in.g) + unit_dot(w.h, in.h);
//#end
  return sum;
}

// packed_cell is cell c of a row: of its values, or, behind those, of their scales (cell.wgsl).
//
// The includer has `kept(i: u32) -> vec4<f32>`, the values 4·i to 4·i + 3 of the
// row, zero beyond its end, and COLUMNS, as many cells as its values take.

//#include "cell.wgsl"

//#if CACHE == q8
// largest is max |v| of the four cells that share scale number i, 0 where there are none.
fn largest(i: u32) -> f32 {
  var most = vec4<f32>(0.0);
  for (var n = 8u * i; n < min(8u * i + 8u, 2u * COLUMNS); n++) { most = max(most, abs(kept(n))); }
  return max(max(most.x, most.y), max(most.z, most.w));
}

fn packed_cell(c: u32) -> Cell {
  if (c >= COLUMNS) {
    let i = 4u * (c - COLUMNS);
    return Cell(
      pack2x16float(vec2<f32>(largest(i), largest(i + 1u)) / 127.0),
      pack2x16float(vec2<f32>(largest(i + 2u), largest(i + 3u)) / 127.0));
  }
  let most = largest(c / 4u);
  let share = select(0.0, 1.0 / most, most > 1e-30);
  return Cell(pack4x8snorm(kept(2u * c) * share), pack4x8snorm(kept(2u * c + 1u) * share));
}
//#else
fn packed_cell(c: u32) -> Cell {
  let low = kept(2u * c);
  let high = kept(2u * c + 1u);
  return Cell(pack2x16float(low.xy), pack2x16float(low.zw), pack2x16float(high.xy), pack2x16float(high.zw));
}
//#end

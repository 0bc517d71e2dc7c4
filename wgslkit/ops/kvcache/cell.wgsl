// What the rows of a cache are made of: cells, each of eight values of a head.
//
//   f16           8 halves; C = ceil(HEAD_DIM / 8) cells are a row
//   CACHE == q8   8 int8 q, with value = d·q as in Q8_0. Behind the C cells of a row stand their d, a half for each
//                 four cells, four to a cell: ceil(HEAD_DIM / 128) cells more
//
// What pads a row's last cells is zero. store_kv.wgsl draws where rows lie. The
// includer has four_halves, which are those of two words.

struct Eight { low: vec4<f32>, high: vec4<f32> }

//#if CACHE == q8
//#include "record/four.wgsl"

alias Cell = vec2<u32>;

const SCALED: u32 = 1u; // cells of scales for each 128 values

// A cell as it was read, with that of its scale.
struct Loaded { cell: Cell, scales: Cell }

// unpacked is cell c of a row.
fn unpacked(l: Loaded, c: u32) -> Eight {
  let pair = unpack2x16float(select(l.scales.x, l.scales.y, (c & 8u) != 0u));
  let d = select(pair.x, pair.y, (c & 4u) != 0u);
  return Eight(d * four_signed(l.cell.x), d * four_signed(l.cell.y));
}
//#else
alias Cell = vec4<u32>;
alias Loaded = Cell;

const SCALED: u32 = 0u;

fn unpacked(l: Loaded, c: u32) -> Eight { return Eight(four_halves(l.x, l.y), four_halves(l.z, l.w)); }
//#end

// Where inputs lie for products of few tokens (few_tokens.wgsl): in groups of
// TOKENS tokens, vector v of four of unit u of token t of a group at
//
//   (v · TOKENS + t) · COUNT + u
//
// with COUNT units to a row. Units are those of unit.wgsl, of SPANS and STEP.

const PER_RUN: u32 = STEP / 16u;
const RUN: u32 = SPANS * STEP;
const SPREAD_COLUMNS: u32 = COUNT * SPANS * 16u; // of a row, with the zeros behind it

// spread_place is where column i of token t lies.
fn spread_place(t: u32, i: u32) -> u32 {
  let o = i % RUN;
  let unit = i / RUN * PER_RUN + o % STEP / 16u;
  let vector = o / STEP * 4u + i % 16u / 4u;
  return t / TOKENS * TOKENS * SPREAD_COLUMNS + ((vector * TOKENS + t % TOKENS) * COUNT + unit) * 4u + i % 4u;
}

// What expert_tiles.wgsl and expert_tiles_looped.wgsl read and write: parameters,
// bindings, and which rows of an expert and of x a tile of pairs wants.

struct Params {
  rows: u32,  // of one expert
  first: u32, // the tile of W's first row of all
  tile_rows: u32,
  cols: u32,

  units: u32,
  row_size: u32,
  plane1: u32,
  plane2: u32,

  x_offset: u32,
  x_stride: u32,
  slots: u32, // pairs to a row of x: 1 where PER_SLOT
  act: u32,

  lanes: u32, // of expert_tiles_looped.wgsl
  rows_of_thread: u32,
//#if CODEBOOK
  codebook: array<vec4<u32>, CODEBOOK>,
//#end
}

@group(0) @binding(0) var<storage, read> tiles: array<vec4<u32>>; // (expert, first, count, 0)
@group(0) @binding(1) var<storage, read> pairs: array<u32>;
@group(0) @binding(2) var<storage, read> weights: array<vec4<u32>>;
//#if ALIGNED
@group(0) @binding(3) var<storage, read> x: array<vec4<f32>>;
//#else
@group(0) @binding(3) var<storage, read> x: array<f32>;
//#end
@group(0) @binding(4) var<storage, read_write> out: array<f32>;
@group(0) @binding(5) var<uniform> params: Params;

//#include "weights/unit.wgsl"
//#include "rowwise/activation.wgsl"

// absent says that a tile has no pairs, or that of its expert's rows from base on,
// `rows` of them, none is in the tile of W.
fn absent(tile: vec4<u32>, base: u32, rows: u32) -> bool {
  let begin = tile.x * params.rows;
  return tile.z == 0u || begin + min(base + rows, params.rows) <= params.first ||
    begin + base >= params.first + params.tile_rows;
}

// row_in_tile is where row r of a tile's expert lies in the tile of W, or some row
// that is there, in place of one that is not.
fn row_in_tile(tile: vec4<u32>, r: u32) -> u32 {
  let row = tile.x * params.rows + min(r, params.rows - 1u);
  return min(max(row, params.first) - params.first, params.tile_rows - 1u);
}

// here says whether row r of an expert exists, and in the tile of W; origin is where
// the expert's row 0 lies, which wraps before the tile.
fn here(r: u32, origin: u32) -> bool { return r < params.rows && origin + r < params.tile_rows; }

// input_at is where the row of x begins that the tile's i-th pair multiplies; beyond
// the last pair, that of the last.
fn input_at(tile: vec4<u32>, i: u32) -> u32 {
  return pairs[tile.y + min(i, tile.z - 1u)] / params.slots * params.x_stride + params.x_offset;
}

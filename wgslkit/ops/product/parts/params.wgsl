// Params is what every kernel of ops.Linear reads. What one has no use for is not read.

struct Params {
  rows: u32,  // of the tile of W
  first: u32, // its first row
  cols: u32,
  units: u32, // in a row; in product.wgsl, strips

  row_size: u32,
  plane1: u32,
  plane2: u32,
  flags: u32,

  x_offset: u32,
  x_stride: u32,
  out_offset: u32,
  out_stride: u32,

  mul_offset: u32,
  mul_stride: u32,
  act: u32,
  softcap: f32,

  lanes: u32,          // threads to a row
  rows_of_thread: u32, // in product.wgsl, of a workgroup
  splits: u32,         // of the columns; where MERGE, of attention
  capacity: u32,       // tokens that there is room for in the sums of splits

  add_eps: f32, // of what is made of the input on the way in
  add_scale: f32,
  norm_eps: f32,
  norm_scale: f32,

  in_min: f32, // where BOUNDED
  in_max: f32,
  heads: u32, // where MERGE
  head_dim: u32,
//#if LOW_RANK
  low: LowRank,
//#end
//#if CODEBOOK
  codebook: array<vec4<u32>, CODEBOOK>,
//#end
}

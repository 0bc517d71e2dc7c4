// What a product with the rows of the experts chosen for each token, ids[t, slot],
// hands back to its input:
//
//   out[t, slot, c] = Σ_r W[e·rows + r, c]·dy[t, r]
//   SUM: out[t, c] = Σ over slots of Σ_r W[e·rows + r, c]·dy[t, slot, r]
//
// or where ADD out += it. A tile of W may hold a part of the experts: rows that it
// lacks count as zero.
//
// A thread makes the columns of one unit (unit.wgsl) from one row after another; those
// beside it read the units beside it.
//
// Grid: x = runs of THREADS units, y = tokens, or slots of tokens.

struct Params {
  rows: u32, // of one expert
  first: u32, // the tile's first row of all
  tile_rows: u32,
  cols: u32,

  units: u32,
  row_size: u32,
  plane1: u32,
  plane2: u32,

  slots: u32,
//#if CODEBOOK
  codebook: array<vec4<u32>, CODEBOOK>,
//#end
}

@group(0) @binding(0) var<storage, read> weights: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> ids: array<u32>;
@group(0) @binding(2) var<storage, read> dy: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

//#include "weights/unit.wgsl"

const FOURS: u32 = UNIT / 4u;
var<private> sums: array<vec4<f32>, FOURS>;

fn gather(span: u32, q: mat4x4<f32>, scale: f32, low: f32) {
  let l = vec4<f32>(low);
  sums[4u * span] += q[0] * scale + l;
  sums[4u * span + 1u] += q[1] * scale + l;
  sums[4u * span + 2u] += q[2] * scale + l;
  sums[4u * span + 3u] += q[3] * scale + l;
}

// expert adds what one slot hands back, whose dy begins at `begin_dy`.
fn expert(pair: u32, begin_dy: u32, unit: u32) {
  let begin = ids[pair] * params.rows;
  let first = max(begin, params.first);
  let end = min(begin + params.rows, params.first + params.tile_rows);
  for (var r = first; r < end; r++) {
    let g = dy[begin_dy + r - begin];
    let w = decode((r - params.first) * params.row_size, unit);
    gather(0u, w.q[0], w.scale.x * g, w.low.x * g);
//#if SPANS != 1
    gather(1u, w.q[1], w.scale.y * g, w.low.y * g);
//#end
//#if SPANS == 4
    gather(2u, w.q[2], w.scale.z * g, w.low.z * g);
    gather(3u, w.q[3], w.scale.w * g, w.low.w * g);
//#end
  }
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let unit = group.x * THREADS + lane;
  if (unit >= params.units) { return; }
//#if SUM
  for (var slot = 0u; slot < params.slots; slot++) {
    let pair = group.y * params.slots + slot;
    expert(pair, pair * params.rows, unit);
  }
//#else
  expert(group.y, group.y / params.slots * params.rows, unit);
//#end
  let row = group.y * params.cols;
  for (var span = 0u; span < SPANS; span++) {
    let column = span_column(unit, span);
    for (var i = 0u; i < 16u; i++) {
      if (column + i >= params.cols) { break; }
//#if ADD
      out[row + column + i] += sums[4u * span + i / 4u][i % 4u];
//#else
      out[row + column + i] = sums[4u * span + i / 4u][i % 4u];
//#end
    }
  }
}

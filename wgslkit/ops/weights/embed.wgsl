// out[t] = scale · row ids[t] of the table. This dispatch writes the tokens
// whose row lies in its tile; the last one also the zeros of ids beyond.
//
// One thread for each unit of a row.

struct Params {
  rows: u32, first: u32, cols: u32, units: u32,
  row_size: u32, plane1: u32, plane2: u32, last: u32,
  scale: f32,
//#if CODEBOOK
  codebook: array<vec4<u32>, CODEBOOK>,
//#end
}

@group(0) @binding(0) var<storage, read> weights: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> ids: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

//#include "unit.wgsl"

fn write_span(t: u32, column: u32, values: mat4x4<f32>, scale: f32, low: f32) {
  var v = values;
  for (var i = 0u; i < min(16u, params.cols - min(column, params.cols)); i++) {
    out[t * params.cols + column + i] = v[i / 4u][i % 4u] * scale + low;
  }
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let unit = group.x * THREADS + lane;
  if (unit >= params.units) { return; }
  let t = group.y;
  let row = ids[t] - params.first; // wraps for rows before the tile
  if (ids[t] < params.first || (row >= params.rows && params.last == 0u)) { return; }
  let w = decode(min(row, params.rows - 1u) * params.row_size, unit);
  let factor = select(0.0, params.scale, row < params.rows);
  // One loop for all spans: what is called more than once is compiled as often.
  var q = w.q;
  for (var s = 0u; s < SPANS; s++) {
    write_span(t, span_column(unit, s), q[s], w.scale[s] * factor, w.low[s] * factor);
  }
}

// keys[slot]   ← rope(rms(k[t, h]; head_weight), position)
// values[slot] ← rms(v[t, h]), or v[t, h] where plain_v
// at the position of token t (place.wgsl), slot = position mod slots.
//
// A cache of `heads` kv heads holds rows of R cells, of eight values each and in q8
// of scales besides (cell.wgsl):
//   keys[(h·R + c)·slots + slot]      neighbouring slots side by side, read one slot for each thread
//   values[(h·slots + slot)·R + c]    a row side by side, read one column for each thread
//
// One workgroup for each head (x), token (y), and keys or values (z).

//#include "head.wgsl"
//#include "packed_cell.wgsl"
//#include "place.wgsl"

struct Params {
  heads: u32, first_head: u32, slots: u32, rotated: u32,
  k_offset: u32, k_stride: u32, v_offset: u32, v_stride: u32,
  eps: f32, weighted: u32, head_dim: u32, plain_v: u32,
}

@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read> k: array<f32>;
@group(0) @binding(2) var<storage, read> v: array<f32>;
@group(0) @binding(3) var<storage, read> head_weight: array<f32>;
@group(0) @binding(4) var<storage, read> rope_table: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> keys: array<Cell>;
@group(0) @binding(6) var<storage, read_write> values: array<Cell>;
@group(0) @binding(7) var<uniform> params: Params;

const COLUMNS: u32 = (HEAD_DIM + 7u) / 8u;
const ROW_CELLS: u32 = COLUMNS + SCALED * ((HEAD_DIM + 127u) / 128u);
const PADDED: u32 = 8u * COLUMNS;

var<workgroup> row: array<f32, PADDED>;

fn four_halves(a: u32, b: u32) -> vec4<f32> { return vec4<f32>(unpack2x16float(a), unpack2x16float(b)); }

fn kept(i: u32) -> vec4<f32> { return vec4<f32>(row[4u * i], row[4u * i + 1u], row[4u * i + 2u], row[4u * i + 3u]); }

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let token = group.y;
  if (token >= state[1]) { return; }
  let is_key = group.z == 0u;
  let head = group.x;
  var squares = 0.0;
  for (var i = lane; i < HEAD_DIM; i += THREADS) {
    var x = 0.0;
    if (is_key) {
      x = k[params.k_offset + token * params.k_stride + (params.first_head + head) * HEAD_DIM + i];
    } else {
      x = v[params.v_offset + token * params.v_stride + (params.first_head + head) * HEAD_DIM + i];
    }
    head_row[i] = x;
    squares += x * x;
  }
  head_normalise(squares, params.eps, is_key || params.plain_v == 0u, is_key && params.weighted != 0u, lane);

  let position = position_of(token);
  let kept_head = cache_head(head, token);
  let slot = position % params.slots;
  for (var i = lane; i < PADDED; i += THREADS) {
    var x = 0.0;
    if (i < HEAD_DIM) {
      if (is_key) { x = head_rotated(i, position, params.rotated); } else { x = head_row[i]; }
    }
    row[i] = x;
  }
  workgroupBarrier();
  for (var c = lane; c < ROW_CELLS; c += THREADS) {
    if (is_key) {
      keys[(kept_head * ROW_CELLS + c) * params.slots + slot] = packed_cell(c);
    } else {
      values[(kept_head * params.slots + slot) * ROW_CELLS + c] = packed_cell(c);
    }
  }
}

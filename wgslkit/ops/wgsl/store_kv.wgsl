// keys[slot]   ← rope(rms(k[t, h]; head_weight), position)
// values[slot] ← rms(v[t, h])
// in f16, at position = state[0] + t, slot = position mod slots.
//
// A cache of `heads` kv heads holds vectors of 8 halves, C = ceil(HEAD_DIM / 8) for a row:
//   keys[(h·C + c)·slots + slot]      neighbouring slots side by side, read one slot for each thread
//   values[(h·slots + slot)·C + c]    a row side by side, read one column for each thread
// Here they are bound as words of 2 halves. What pads a row to C·8 stays zero.
//
// One workgroup for each head (x), token (y), and keys or values (z).

//#include "head.wgsl"

struct Params {
  heads: u32, first_head: u32, slots: u32, rotated: u32,
  k_offset: u32, k_stride: u32, v_offset: u32, v_stride: u32,
  eps: f32, weighted: u32, head_dim: u32,
}

@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read> k: array<f32>;
@group(0) @binding(2) var<storage, read> v: array<f32>;
@group(0) @binding(3) var<storage, read> head_weight: array<f32>;
@group(0) @binding(4) var<storage, read> rope_table: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> keys: array<u32>;
@group(0) @binding(6) var<storage, read_write> values: array<u32>;
@group(0) @binding(7) var<uniform> params: Params;

const WORDS: u32 = HEAD_DIM / 2u;
const COLUMNS: u32 = (HEAD_DIM + 7u) / 8u;

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
  head_normalise(squares, params.eps, true, is_key && params.weighted != 0u, lane);

  let position = state[0] + token;
  let slot = position % params.slots;
  for (var w = lane; w < WORDS; w += THREADS) {
    if (is_key) {
      let pair = vec2<f32>(
        head_rotated(2u * w, position, params.rotated),
        head_rotated(2u * w + 1u, position, params.rotated));
      keys[((head * COLUMNS + w / 4u) * params.slots + slot) * 4u + w % 4u] = pack2x16float(pair);
    } else {
      let pair = vec2<f32>(head_row[2u * w], head_row[2u * w + 1u]);
      values[(head * params.slots + slot) * COLUMNS * 4u + w] = pack2x16float(pair);
    }
  }
}

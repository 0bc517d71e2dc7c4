// y[t, m, o] = Σ over dt, dm < 3 and i of W[dt, dm, i, o] · x[2t + dt − 1, 2m + dm − 1, i]
//
// A convolution of 3 × 3 with stride 2 over [rows, bins, inputs] (state[1] rows),
// with zeros around, into [ceil(rows / 2), ceil(bins / 2), outputs]. The values
// of a position lie side by side, x's, y's and W's, of which W's are padded to
// whole fours.
//
// A thread makes four outputs of BINS neighbouring positions of a row, which
// share what is loaded of W. Grid: x = threads of a row, y = rows of y.

struct Params { bins: u32, inputs: u32, outputs: u32 }

@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read> weights: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

const BINS: u32 = 4u;

fn write(position: u32, four: u32, v: vec4<f32>) {
  for (var n = 0u; n < 4u; n++) {
    let o = 4u * four + n;
    if (o < params.outputs) { y[position * params.outputs + o] = v[n]; }
  }
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let fours = (params.outputs + 3u) / 4u;
  let bins_out = (params.bins + 1u) / 2u;
  let item = group.x * THREADS + lane;
  let four = item % fours;
  let first = item / fours * BINS;
  let rows = state[1];
  let row = group.y;
  if (first >= bins_out || 2u * row >= rows) { return; }

  var a = vec4<f32>();
  var b = vec4<f32>();
  var c = vec4<f32>();
  var d = vec4<f32>();
  for (var tap = 0u; tap < 9u; tap++) {
    // One is added to what may be −1; what lies outside is zero.
    let t = 2u * row + tap / 3u;
    if (t < 1u || t > rows) { continue; }
    let m = 2u * first + tap % 3u;
    // The inputs of four positions, 2 bins apart, and whether they lie inside.
    let inside = vec4<f32>(
      select(0.0, 1.0, m >= 1u && m <= params.bins), select(0.0, 1.0, m + 2u <= params.bins),
      select(0.0, 1.0, m + 4u <= params.bins), select(0.0, 1.0, m + 6u <= params.bins));
    let last = params.bins - 1u;
    let base = (t - 1u) * params.bins;
    let at_a = (base + min(max(m, 1u) - 1u, last)) * params.inputs;
    let at_b = (base + min(m + 1u, last)) * params.inputs;
    let at_c = (base + min(m + 3u, last)) * params.inputs;
    let at_d = (base + min(m + 5u, last)) * params.inputs;
    let from_w = tap * params.inputs * fours + four;
    for (var i = 0u; i < params.inputs; i++) {
      let w = weights[from_w + i * fours];
      a += w * (x[at_a + i] * inside.x);
      b += w * (x[at_b + i] * inside.y);
      c += w * (x[at_c + i] * inside.z);
      d += w * (x[at_d + i] * inside.w);
    }
  }
  let position = row * bins_out + first;
  write(position, four, a);
  if (first + 1u < bins_out) { write(position + 1u, four, b); }
  if (first + 2u < bins_out) { write(position + 2u, four, c); }
  if (first + 3u < bins_out) { write(position + 3u, four, d); }
}

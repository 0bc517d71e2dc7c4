// Rows of float32 as halves, each row with a factor of its own, and back.
//
//   words[t] = (f, pack2x16float(x[t, 2i] / f, x[t, 2i + 1] / f) …),  f = 2^(⌊log₂ max |x[t]|⌋ − 14)
//   BACK: x[t, i] = f·half i of words[t]
//
// so that no value overflows and the small ones of a row keep what halves can hold.
// One workgroup for each row.

struct Params { size: u32 }

//#if BACK
@group(0) @binding(0) var<storage, read> words: array<u32>;
@group(0) @binding(1) var<storage, read_write> x: array<f32>;
//#else
@group(0) @binding(0) var<storage, read_write> words: array<u32>;
@group(0) @binding(1) var<storage, read> x: array<f32>;

var<workgroup> tops: array<f32, THREADS>;
//#end
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let row = group.y * params.size;
  let pairs = (params.size + 1u) / 2u;
  let own = group.y * (pairs + 1u);
//#if BACK
  let factor = bitcast<f32>(words[own]);
  for (var i = lane; i < pairs; i += THREADS) {
    let both = unpack2x16float(words[own + 1u + i]) * factor;
    x[row + 2u * i] = both.x;
    if (2u * i + 1u < params.size) { x[row + 2u * i + 1u] = both.y; }
  }
//#else
  var top = 0.0;
  for (var i = lane; i < params.size; i += THREADS) { top = max(top, abs(x[row + i])); }
  tops[lane] = top;
  workgroupBarrier();
  for (var i = 0u; i < THREADS; i++) { top = max(top, tops[i]); }
  var factor = 1.0;
  if (top > 1e-30) { factor = exp2(floor(log2(top)) - 14.0); }
  if (lane == 0u) { words[own] = bitcast<u32>(factor); }
  for (var i = lane; i < pairs; i += THREADS) {
    var both = vec2<f32>(x[row + 2u * i], 0.0);
    if (2u * i + 1u < params.size) { both.y = x[row + 2u * i + 1u]; }
    words[own + 1u + i] = pack2x16float(both / factor);
  }
//#end
}

// stats[t, h].x = log Σ_j exp(scale·q[t, h]·k[j, h′]) over the keys j that row t sees,
// from ranges[t].x up to ranges[t].y. A row that sees nothing keeps what it has. Keys
// before params.first have theirs in it already, those from params.end on will add it.
//
// Grid: x = heads, y = tiles of 32 rows.

struct Params { heads: u32, kv_heads: u32, first: u32, end: u32, scale: f32 }

@group(0) @binding(0) var<storage, read> ranges: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read> q: array<f32>;
@group(0) @binding(2) var<storage, read> k: array<f32>;
@group(0) @binding(3) var<storage, read_write> stats: array<vec2<f32>>;
@group(0) @binding(4) var<uniform> params: Params;

//#include "packed_scores.wgsl"

const NOTHING: f32 = -1e30;

var<private> tops: array<f32, 4>;
var<private> totals: array<f32, 4>;

// take adds four scores of own row i to the thread's part of its sum.
fn take(i: u32, own: u32, other: u32) {
  let s = select(vec4<f32>(NOTHING), sums[i] * params.scale, sees(own, other));
  let top = max(max(max(s.x, s.y), max(s.z, s.w)), tops[i]);
  if (top == NOTHING) { return; }
  let e = exp(s - vec4<f32>(top));
  totals[i] = totals[i] * exp(tops[i] - top) + (e.x + e.y) + (e.z + e.w);
  tops[i] = top;
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let head = workgroup.x;
  let first_own = workgroup.y * 32u;
  let range = span(first_own);
  let x = thread % 8u;
  let y = thread / 8u;
  for (var i = 0u; i < 4u; i++) {
    tops[i] = NOTHING;
    totals[i] = 0.0;
  }
  for (var first = range.x; first < range.y; first += 32u) {
    tile_sums(first_own, first, range.y - 1u, head, false, thread);
    if (thread < 64u) {
      for (var i = 0u; i < 4u; i++) { take(i, first_own + 4u * y + i, first + 4u * x); }
    }
  }
  workgroupBarrier();
  if (thread < 64u) {
    for (var i = 0u; i < 4u; i++) { scratch[(4u * y + i) * 4u + x / 2u][x % 2u * 2u] = tops[i]; }
    for (var i = 0u; i < 4u; i++) { scratch[(4u * y + i) * 4u + x / 2u][x % 2u * 2u + 1u] = totals[i]; }
  }
  workgroupBarrier();
  if (thread >= 32u) { return; }
  var top = NOTHING;
  for (var i = 0u; i < 4u; i++) {
    let cell = scratch[thread * 4u + i];
    top = max(top, max(cell.x, cell.z));
  }
  var total = 0.0;
  for (var i = 0u; i < 4u; i++) {
    let cell = scratch[thread * 4u + i];
    total += exp(cell.x - top) * cell.y + exp(cell.z - top) * cell.w;
  }
  let seen = seen_by(first_own + thread);
  if (seen.x >= seen.y) { return; }
  let at = (first_own + thread) * params.heads + head;
  var sum = top + log(total);
  if (ranges[first_own + thread].x < params.first) {
    let before = stats[at].x;
    let most = max(sum, before);
    sum = most + log(exp(sum - most) + exp(before - most));
  }
  stats[at].x = sum;
}

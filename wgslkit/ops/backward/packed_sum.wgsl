// out[a, h] = scale·Σ_b w[a, b]·z[b, h′] over the others b that own row a sees,
// or where ADD out[a, h] += it. With p = exp(s·q·k − lse) the weight that a query
// gives a key, and dp = dout·v, ds = p·(dp − delta) its gradients:
//   own queries, !SECOND:  w = p,  z = v     the attention's result
//   own queries,  SECOND:  w = ds, z = k     dq
//   own keys,    !SECOND:  w = p,  z = dout  dv of one query head
//   own keys,     SECOND:  w = ds, z = q     dk of one query head
// stats[t, h] is (lse, delta). Nothing of [rows, keys] is kept in memory.
//
// THREADS threads first make a tile of weights (packed_scores.wgsl). Then each half
// of them has 16 of the own rows, and each thread adds the tile up for every
// COLUMN_THREADSth column.
//
// Grid: x = heads, y = tiles of 32 own rows.

struct Params { heads: u32, kv_heads: u32, first: u32, end: u32, score_scale: f32, scale: f32 }

@group(0) @binding(0) var<storage, read> ranges: array<vec2<u32>>;
@group(0) @binding(1) var<storage, read> q: array<f32>;
@group(0) @binding(2) var<storage, read> k: array<f32>;
@group(0) @binding(3) var<storage, read> v: array<f32>;
@group(0) @binding(4) var<storage, read> dout: array<f32>;
@group(0) @binding(5) var<storage, read> stats: array<vec2<f32>>;
@group(0) @binding(6) var<storage, read_write> out: array<f32>;
@group(0) @binding(7) var<uniform> params: Params;

//#include "packed_scores.wgsl"

const COLUMN_THREADS: u32 = THREADS / 2u;
const WIDE: u32 = (HEAD_DIM + COLUMN_THREADS - 1u) / COLUMN_THREADS;
const ACCUMULATORS: u32 = 4u * WIDE;

var<workgroup> weights: array<vec4<f32>, 256>; // [32 others][32 own rows]
var<private> acc: array<vec4<f32>, ACCUMULATORS>; // [columns][16 own rows]

// others_stats are those of the queries of a row of four scores.
fn stats_of(query: u32, head: u32) -> vec2<f32> { return stats[query * params.heads + head]; }

fn weight(score: f32, slope: f32, s: vec2<f32>) -> f32 {
  let p = exp(score * params.score_scale - s.x);
//#if SECOND
  return p * (slope - s.y);
//#else
  return p;
//#end
}

fn store_weights(scores: vec4<f32>, slopes: vec4<f32>, i: u32, first_own: u32, first: u32, last: u32, head: u32,
  thread: u32) {
  let x = thread % 8u;
  let row = thread / 8u * 4u + i;
  let other = first + 4u * x;
  let seen = sees(first_own + row, other);
//#if OWN_KEYS
  let w = vec4<f32>(
    weight(scores.x, slopes.x, stats_of(min(other, last), head)),
    weight(scores.y, slopes.y, stats_of(min(other + 1u, last), head)),
    weight(scores.z, slopes.z, stats_of(min(other + 2u, last), head)),
    weight(scores.w, slopes.w, stats_of(min(other + 3u, last), head)));
//#else
  let s = stats_of(first_own + row, head);
  let w = vec4<f32>(weight(scores.x, slopes.x, s), weight(scores.y, slopes.y, s), weight(scores.z, slopes.z, s),
    weight(scores.w, slopes.w, s));
//#end
  let to = 4u * x * 8u + row / 4u;
  let lane = row % 4u;
  weights[to][lane] = select(0.0, w.x, seen.x);
  weights[to + 8u][lane] = select(0.0, w.y, seen.y);
  weights[to + 16u][lane] = select(0.0, w.z, seen.z);
  weights[to + 24u][lane] = select(0.0, w.w, seen.w);
}

fn summand(row: u32, head: u32, i: u32) -> f32 {
//#if OWN_KEYS
//#if SECOND
  return q[query_at(row, head) + i];
//#else
  return dout[query_at(row, head) + i];
//#end
//#else
//#if SECOND
  return k[key_at(row, head) + i];
//#else
  return v[key_at(row, head) + i];
//#end
//#end
}

// add_others adds 32 others; those beyond the last have weights of 0.
fn add_others(first: u32, last: u32, head: u32, thread: u32) {
  let column = thread % COLUMN_THREADS;
  let rows = thread / COLUMN_THREADS * 4u;
  for (var j = 0u; j < 32u; j++) {
    let a = weights[8u * j + rows];
    let b = weights[8u * j + rows + 1u];
    let c = weights[8u * j + rows + 2u];
    let d = weights[8u * j + rows + 3u];
    let row = min(first + j, last);
    for (var w = 0u; w < WIDE; w++) {
      let z = summand(row, head, min(column + w * COLUMN_THREADS, HEAD_DIM - 1u));
      acc[4u * w] += a * z;
      acc[4u * w + 1u] += b * z;
      acc[4u * w + 2u] += c * z;
      acc[4u * w + 3u] += d * z;
    }
  }
}

fn write(row: u32, head: u32, i: u32, value: f32) {
  let at = query_at(row, head) + i;
//#if ADD
  out[at] += value * params.scale;
//#else
  out[at] = value * params.scale;
//#end
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let head = workgroup.x;
  let first_own = workgroup.y * 32u;
  let range = span(first_own);
  for (var i = 0u; i < ACCUMULATORS; i++) { acc[i] = vec4<f32>(); }
  for (var first = range.x; first < range.y; first += 32u) {
    let last = range.y - 1u;
    tile_sums(first_own, first, last, head, false, thread);
    let s0 = sums[0];
    let s1 = sums[1];
    let s2 = sums[2];
    let s3 = sums[3];
//#if SECOND
    tile_sums(first_own, first, last, head, true, thread);
//#end
    workgroupBarrier();
    if (thread < 64u) {
      store_weights(s0, sums[0], 0u, first_own, first, last, head, thread);
      store_weights(s1, sums[1], 1u, first_own, first, last, head, thread);
      store_weights(s2, sums[2], 2u, first_own, first, last, head, thread);
      store_weights(s3, sums[3], 3u, first_own, first, last, head, thread);
    }
    workgroupBarrier();
    add_others(first, last, head, thread);
  }
  for (var w = 0u; w < WIDE; w++) {
    let i = thread % COLUMN_THREADS + w * COLUMN_THREADS;
    if (i < HEAD_DIM) {
      for (var r = 0u; r < 4u; r++) {
        let row = first_own + thread / COLUMN_THREADS * 16u + 4u * r;
        let value = acc[4u * w + r];
        write(row, head, i, value.x);
        write(row + 1u, head, i, value.y);
        write(row + 2u, head, i, value.z);
        write(row + 3u, head, i, value.w);
      }
    }
  }
}

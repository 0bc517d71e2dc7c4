// A tile of products handed back, in workgroup memory: 16 rows of W at a time, as
// [row][column], beside their dy as [row][token]. 16 × TOKENS/8 threads make 128
// columns × TOKENS tokens, a thread 8 × 8 of it: thread x + 16·y the columns
// 4x … 4x+3 and 64 more, by the tokens 4y … 4y+3 and TOKENS/2 more.
//
// Uses unit.wgsl.

const THREADS: u32 = 2u * TOKENS;
const TILE_UNITS: u32 = 128u / UNIT; // of a row
const TOKEN_FOURS: u32 = TOKENS / 4u;
const HALF_TOKENS: u32 = TOKENS / 8u;
const DY_CELLS: u32 = 16u * TOKEN_FOURS;

var<workgroup> rows_at: array<vec4<f32>, 512>;        // [16 rows][128 columns]
var<workgroup> tokens_at: array<vec4<f32>, DY_CELLS>; // [16 rows][TOKENS]
var<private> acc: array<vec4<f32>, 16>;               // [8 tokens][8 columns]

fn store_span(to: u32, q: mat4x4<f32>, scale: f32, low: f32, inside: f32) {
  let s = scale * inside;
  let l = vec4<f32>(low * inside);
  rows_at[to] = q[0] * s + l;
  rows_at[to + 1u] = q[1] * s + l;
  rows_at[to + 2u] = q[2] * s + l;
  rows_at[to + 3u] = q[3] * s + l;
}

// store_unit puts unit number i of 16 rows into memory, with zeros unless its row exists.
fn store_unit(i: u32, w: Unit, exists: bool, first_unit: u32) {
  let inside = select(0.0, 1.0, exists);
  let own = first_unit + i % TILE_UNITS;
  let to = i / TILE_UNITS * 32u;
  let begin = span_column(first_unit, 0u);
  store_span(to + (span_column(own, 0u) - begin) / 4u, w.q[0], w.scale.x, w.low.x, inside);
//#if SPANS != 1
  store_span(to + (span_column(own, 1u) - begin) / 4u, w.q[1], w.scale.y, w.low.y, inside);
//#end
//#if SPANS == 4
  store_span(to + (span_column(own, 2u) - begin) / 4u, w.q[2], w.scale.z, w.low.z, inside);
  store_span(to + (span_column(own, 3u) - begin) / 4u, w.q[3], w.scale.w, w.low.w, inside);
//#end
}

// store_grads puts four rows' dy of one token into memory; i counts them.
fn store_grads(i: u32, v: vec4<f32>) {
  let to = i % 4u * 4u * TOKEN_FOURS + i / 16u;
  let lane = i / 4u % 4u;
  tokens_at[to][lane] = v.x;
  tokens_at[to + TOKEN_FOURS][lane] = v.y;
  tokens_at[to + 2u * TOKEN_FOURS][lane] = v.z;
  tokens_at[to + 3u * TOKEN_FOURS][lane] = v.w;
}

fn multiply(x: u32, y: u32) {
  for (var k = 0u; k < 16u; k++) {
    let a = rows_at[k * 32u + x];
    let b = rows_at[k * 32u + x + 16u];
    let p = tokens_at[k * TOKEN_FOURS + y];
    let q = tokens_at[k * TOKEN_FOURS + y + HALF_TOKENS];
    acc[0] += a * p.x; acc[1] += b * p.x;
    acc[2] += a * p.y; acc[3] += b * p.y;
    acc[4] += a * p.z; acc[5] += b * p.z;
    acc[6] += a * p.w; acc[7] += b * p.w;
    acc[8] += a * q.x; acc[9] += b * q.x;
    acc[10] += a * q.y; acc[11] += b * q.y;
    acc[12] += a * q.z; acc[13] += b * q.z;
    acc[14] += a * q.w; acc[15] += b * q.w;
  }
}

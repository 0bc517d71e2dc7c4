// out[r] = W[r]·h, or with GATED act(W[2r]·h) · (W[2r+1]·h), then what
// activation.wgsl names and `mul`, as matvec.wgsl, for GPUs. Where LOW_RANK, each
// W[r]·h is with what low_rank.wgsl adds. h is x, or
//
//   v = (x + rms(add_x; add_w)) · add_scale  → add_out    (ADD)
//   h = rms(v; norm_w) · norm_scale                       (NORM)
//
// LANES threads share ROWS rows, a unit of each at a time. What they read first
// does not wait for h, and what they read next not for what they do with it.
// Where STAGED, each workgroup makes h for itself, keeps it in memory, and takes
// rows in turns; else h is x, read where it is. COLS is a multiple of 4, COUNT
// the units of a row.
//
// Where HALVES, small integers are made floats as float16 (decode/bytes.wgsl).
//
// TOKENS is 1, or how many neighbouring tokens the weights are multiplied with once
// they are read: out[t, r]. h then is x as spread.wgsl has laid it out, and y of the
// grid counts groups of so many tokens.

//#include "params.wgsl"

@group(0) @binding(0) var<storage, read> weights: array<vec4<u32>>;
@group(0) @binding(1) var<storage, read> x: array<vec4<f32>>;
//#if TOKENS == 1
@group(0) @binding(2) var<storage, read> norm_w: array<vec4<f32>>;
//#if LOW_RANK
@group(0) @binding(3) var<storage, read> low_u: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> low_b: array<vec4<f32>>;
//#else
@group(0) @binding(3) var<storage, read> add_x: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> add_w: array<vec4<f32>>;
//#end
@group(0) @binding(5) var<storage, read> mul: array<f32>;
@group(0) @binding(6) var<storage, read_write> add_out: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read_write> out: array<f32>;
@group(0) @binding(8) var<uniform> params: Params;
//#else
@group(0) @binding(2) var<storage, read> state: array<u32>;
@group(0) @binding(3) var<storage, read> mul: array<f32>;
@group(0) @binding(4) var<storage, read_write> out: array<f32>;
//#if LOW_RANK
@group(0) @binding(5) var<storage, read> low_u: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read> low_b: array<vec4<f32>>;
@group(0) @binding(7) var<uniform> params: Params;
//#else
@group(0) @binding(5) var<uniform> params: Params;
//#end
//#end

//#include "weights/unit.wgsl"
//#include "rowwise/activation.wgsl"
//#if LOW_RANK
//#include "low_rank.wgsl"
//#end

const MULTIPLIED: u32 = 4u; // of params.flags

const FOURS: u32 = COLS / 4u;
const FOURS_OF_UNIT: u32 = UNIT / 4u;

//#if TOKENS == 1
//#include "dot.wgsl"
//#if STAGED
//#include "stage.wgsl"
//#else
// span_inputs reads x where it is; what lies beyond the row counts as zeros.
fn span_inputs(token: u32, unit: u32, span: u32) -> mat4x4<f32> {
  let c = span_column(unit, span) / 4u;
  return mat4x4<f32>(fours(c), fours(c + 1u), fours(c + 2u), fours(c + 3u));
}

fn fours(c: u32) -> vec4<f32> {
  if (COLS % UNIT == 0u || c < FOURS) { return x[params.x_offset / 4u + c]; }
  return vec4<f32>();
}
//#end
alias Sum = f32;
//#else
//#include "few_tokens.wgsl"
alias Sum = vec4<f32>; // of four tokens
//#end

const OUTS: u32 = THREADS / LANES * ROWS; // rows of a workgroup

//#include "split_sum.wgsl"

const TURNS: u32 = (COUNT + LANES - 1u) / LANES;

//#if TOKENS == 1
var<private> sums: vec4<f32>; // of this thread's rows
//#end

// rows_of is the rows of this thread from `base` on, those beyond the last
// being the last, in words.
fn rows_of(base: u32, thread: u32) -> vec4<u32> {
  let row = vec4<u32>(base + thread / LANES * ROWS) + vec4<u32>(0u, 1u, 2u, 3u);
  return min(row, vec4<u32>(params.rows - 1u)) * params.row_size;
}

//#if TOKENS == 1
fn finish(r: u32, sum: f32) {
  var v = sum;
  if ((params.flags & MULTIPLIED) != 0u) { v = v * mul[params.mul_offset + r]; }
  out[params.out_offset + r] = softcapped(v, params.softcap);
}
//#else
fn finish(token: u32, r: u32, sum: f32) {
  var v = sum;
  if ((params.flags & MULTIPLIED) != 0u) { v = v * mul[token * params.mul_stride + params.mul_offset + r]; }
  out[token * params.out_stride + params.out_offset + r] = softcapped(v, params.softcap);
}

// end_row ends output o of a workgroup's for one token; sum is its row's, up the next one's.
fn end_row(token: u32, r: u32, sum: f32, up: f32) {
  if (token >= state[1]) { return; }
//#if LOW_RANK
  let row = r * select(1u, 2u, GATED);
  var v = activate(params.act, sum + low_rank(token, row));
  if (GATED) { v = v * (up + low_rank(token, row + 1u)); }
  finish(token, r, v);
//#else
  finish(token, r, activate(params.act, sum) * select(1.0, up, GATED));
//#end
}

// end_four ends what a workgroup has of the rows from base on for four tokens.
fn end_four(sums: Sums, token: u32, base: u32, thread: u32) {
//#if ROWS == 4
  share(
    Sum(sums.a.x, sums.b.x, sums.c.x, sums.d.x), Sum(sums.a.y, sums.b.y, sums.c.y, sums.d.y),
    Sum(sums.a.z, sums.b.z, sums.c.z, sums.d.z), Sum(sums.a.w, sums.b.w, sums.c.w, sums.d.w), thread);
//#else
  share(Sum(sums.a.x, sums.b.x, sums.c.x, sums.d.x), Sum(sums.a.y, sums.b.y, sums.c.y, sums.d.y), Sum(), Sum(), thread);
//#end
  let step = select(1u, 2u, GATED); // rows to an output
  let o = step * thread;
  if (o < OUTS && base + o < params.rows) {
    let sum = row_sum(o);
    let up = row_sum(o + step - 1u);
    let r = (params.first + base + o) / step;
    end_row(token, r, sum.x, up.x);
    end_row(token + 1u, r, sum.y, up.y);
    end_row(token + 2u, r, sum.z, up.z);
    end_row(token + 3u, r, sum.w, up.w);
  }
  workgroupBarrier();
}
//#end

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(num_workgroups) workgroups: vec3<u32>,
  @builtin(local_invocation_index) thread: u32) {
//#if SHARED_CODEBOOK
  share_codebook(thread, THREADS);
//#end
  let lane = thread % LANES;
  let first_unit = min(lane, COUNT - 1u);
  var base = workgroup.x * OUTS;
  var rows = rows_of(base, thread);
  var next0 = packed(rows.x, first_unit);
//#if ROWS != 1
  var next1 = packed(rows.y, first_unit);
//#end
//#if ROWS == 4
  var next2 = packed(rows.z, first_unit);
  var next3 = packed(rows.w, first_unit);
//#end
//#if STAGED
  stage(workgroup.x == 0u, thread);
//#end
//#if TOKENS != 1
  let first_token = workgroup.y * TOKENS;
  let more = state[1] > first_token + 4u; // tokens than four
//#end
  loop {
//#if TOKENS == 1
    sums = vec4<f32>();
//#else
    var low = Sums();
    var high = Sums();
//#end
    for (var turn = 0u; turn < TURNS; turn++) {
      let unit = turn * LANES + lane;
      if (COUNT % LANES == 0u || unit < COUNT) {
        let now0 = next0;
//#if ROWS != 1
        let now1 = next1;
//#end
//#if ROWS == 4
        let now2 = next2;
        let now3 = next3;
//#end
        if (turn + 1u < TURNS) {
          let following = min(unit + LANES, COUNT - 1u);
          next0 = packed(rows.x, following);
//#if ROWS != 1
          next1 = packed(rows.y, following);
//#end
//#if ROWS == 4
          next2 = packed(rows.z, following);
          next3 = packed(rows.w, following);
//#end
        }
//#if TOKENS != 1
        let w0 = unpacked(now0, unit);
        let w1 = unpacked(now1, unit);
//#if ROWS == 4
        let w2 = unpacked(now2, unit);
        let w3 = unpacked(now3, unit);
//#else
        let w2 = w0; // not used
        let w3 = w0;
//#end
        let at = workgroup.y * FOURS_OF_UNIT * VECTOR_STRIDE + unit;
        let s0 = Weights(
          decoded(w0.q[0], w0.scale.x, w0.low.x), decoded(w1.q[0], w1.scale.x, w1.low.x),
          decoded(w2.q[0], w2.scale.x, w2.low.x), decoded(w3.q[0], w3.scale.x, w3.low.x));
        low = add_span(low, s0, at);
//#if TOKENS == 8
        if (more) { high = add_span(high, s0, at + 4u * COUNT); }
//#end
//#if SPANS != 1
        let s1 = Weights(
          decoded(w0.q[1], w0.scale.y, w0.low.y), decoded(w1.q[1], w1.scale.y, w1.low.y),
          decoded(w2.q[1], w2.scale.y, w2.low.y), decoded(w3.q[1], w3.scale.y, w3.low.y));
        low = add_span(low, s1, at + 4u * VECTOR_STRIDE);
//#if TOKENS == 8
        if (more) { high = add_span(high, s1, at + 4u * COUNT + 4u * VECTOR_STRIDE); }
//#end
//#end
//#if SPANS == 4
        let s2 = Weights(
          decoded(w0.q[2], w0.scale.z, w0.low.z), decoded(w1.q[2], w1.scale.z, w1.low.z),
          decoded(w2.q[2], w2.scale.z, w2.low.z), decoded(w3.q[2], w3.scale.z, w3.low.z));
        low = add_span(low, s2, at + 8u * VECTOR_STRIDE);
//#if TOKENS == 8
        if (more) { high = add_span(high, s2, at + 4u * COUNT + 8u * VECTOR_STRIDE); }
//#end
        let s3 = Weights(
          decoded(w0.q[3], w0.scale.w, w0.low.w), decoded(w1.q[3], w1.scale.w, w1.low.w),
          decoded(w2.q[3], w2.scale.w, w2.low.w), decoded(w3.q[3], w3.scale.w, w3.low.w));
        low = add_span(low, s3, at + 12u * VECTOR_STRIDE);
//#if TOKENS == 8
        if (more) { high = add_span(high, s3, at + 4u * COUNT + 12u * VECTOR_STRIDE); }
//#end
//#end
//#else
//#if STAGED
        let in = staged_inputs(unit);
//#else
        let in = inputs(0u, unit);
//#end
        sums.x += unit_dot(unpacked(now0, unit), in);
//#if ROWS != 1
        sums.y += unit_dot(unpacked(now1, unit), in);
//#end
//#if ROWS == 4
        sums.z += unit_dot(unpacked(now2, unit), in);
        sums.w += unit_dot(unpacked(now3, unit), in);
//#end
//#end
      }
    }
    let now = base;
    base += workgroups.x * OUTS;
    if (base < params.rows) {
      rows = rows_of(base, thread);
      next0 = packed(rows.x, first_unit);
//#if ROWS != 1
      next1 = packed(rows.y, first_unit);
//#end
//#if ROWS == 4
      next2 = packed(rows.z, first_unit);
      next3 = packed(rows.w, first_unit);
//#end
    }
//#if TOKENS == 1
    let step = select(1u, 2u, GATED); // rows to an output
    let o = step * thread;
    let r = params.first + now + o;
//#if LOW_RANK
    var added = vec2<f32>(); // before the threads wait for each other
    if (o < OUTS && now + o < params.rows) {
      added.x = low_rank(0u, r);
      if (GATED) { added.y = low_rank(0u, r + 1u); }
    }
//#end
    share(sums.x, sums.y, sums.z, sums.w, thread);
    if (o < OUTS && now + o < params.rows) {
//#if NORM
      let norming = norm_factor();
//#else
      let norming = 1.0;
//#end
//#if LOW_RANK
      var v = activate(params.act, norming * row_sum(o) + added.x);
      if (GATED) { v = v * (norming * row_sum(o + 1u) + added.y); }
//#else
      var v = activate(params.act, norming * row_sum(o));
      if (GATED) { v = v * norming * row_sum(o + 1u); }
//#end
      finish(r / step, v);
    }
//#else
    end_four(low, first_token, now, thread);
//#if TOKENS == 8
    if (more) { end_four(high, first_token + 4u, now, thread); }
//#end
//#end
    if (base >= params.rows) { break; }
    workgroupBarrier();
  }
}

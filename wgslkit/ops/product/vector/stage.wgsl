// The inputs of a product in workgroup memory, made by all its threads at once:
//
//   v = (x + rms(add_x; add_w)) · add_scale  → add_out    (ADD)
//   h = v ⊙ norm_w                                        (NORM; else v)
//
// The norm's factor, norm_factor, is left to be applied to results. Everything
// that is read is asked for before the first of it is used.
//
// Uses THREADS, COLS (a multiple of 4), COUNT (units of a row), FOURS and
// FOURS_OF_UNIT (vectors of four in both), unit.wgsl and dot.wgsl.

const ADD_WEIGHTED: u32 = 1u;  // of params.flags
const NORM_WEIGHTED: u32 = 2u;

// Staged is what a unit multiplies, and the sums of its spans. It is an odd
// number of vectors, so that neighbouring threads' units lie in other banks.
struct Staged {
  x: array<vec4<f32>, FOURS_OF_UNIT>,
  sum: vec4<f32>,
}

var<workgroup> staged: array<Staged, COUNT>;

fn span_inputs(token: u32, unit: u32, span: u32) -> mat4x4<f32> {
  return mat4x4<f32>(staged[unit].x[4u * span], staged[unit].x[4u * span + 1u], staged[unit].x[4u * span + 2u],
    staged[unit].x[4u * span + 3u]);
}

// staged_inputs has zeros for spans that a unit lacks, whose sums are what memory was left
// with where UNZEROED.
fn staged_inputs(unit: u32) -> Inputs {
//#if SPANS == 1
  return Inputs(array<mat4x4<f32>, 1>(span_inputs(0u, unit, 0u)), vec4<f32>(staged[unit].sum.x, 0.0, 0.0, 0.0));
//#end
//#if SPANS == 2
  return Inputs(array<mat4x4<f32>, 2>(span_inputs(0u, unit, 0u), span_inputs(0u, unit, 1u)),
    vec4<f32>(staged[unit].sum.xy, 0.0, 0.0));
//#end
//#if SPANS == 4
  return Inputs(
    array<mat4x4<f32>, 4>(span_inputs(0u, unit, 0u), span_inputs(0u, unit, 1u), span_inputs(0u, unit, 2u),
      span_inputs(0u, unit, 3u)),
    staged[unit].sum);
//#end
}

// put stages columns 4c to 4c + 3.
fn put(c: u32, h: vec4<f32>) {
  let o = 4u * c % RUN;
  staged[4u * c / RUN * PER_RUN + o % STEP / 16u].x[o / STEP * 4u + c % 4u] = h;
}

const SQUARE_PARTS: u32 = 16u;
var<workgroup> square_cells: array<f32, THREADS>;
var<workgroup> square_parts: array<f32, SQUARE_PARTS>;

// squares_in_parts is the first of two steps that add up what each thread left
// in square_cells.
fn squares_in_parts(thread: u32) {
  if (thread < SQUARE_PARTS) {
    var sum = 0.0;
    for (var i = thread; i < THREADS; i += SQUARE_PARTS) { sum += square_cells[i]; }
    square_parts[thread] = sum;
  }
}

fn mean_square() -> f32 {
  var sum = 0.0;
  for (var i = 0u; i < SQUARE_PARTS; i++) { sum += square_parts[i]; }
  return sum / f32(COLS);
}

//#if NORM
fn norm_factor() -> f32 { return params.norm_scale / sqrt(mean_square() + params.norm_eps); }
//#end

const EACH: u32 = (FOURS + THREADS - 1u) / THREADS; // vectors of four of a thread

fn stage(first: bool, thread: u32) {
  var v: array<vec4<f32>, EACH>;
//#if NORM
  var w: array<vec4<f32>, EACH>;
//#end
//#if ADD
  var a: array<vec4<f32>, EACH>;
  var aw: array<vec4<f32>, EACH>;
//#end
  for (var e = 0u; e < EACH; e++) {
    let c = min(e * THREADS + thread, FOURS - 1u);
//#if ADD
    a[e] = add_x[c];
//#end
    v[e] = x[params.x_offset / 4u + c];
//#if ADD
    aw[e] = vec4<f32>(1.0);
    if ((params.flags & ADD_WEIGHTED) != 0u) { aw[e] = add_w[c]; }
//#end
//#if NORM
    w[e] = vec4<f32>(1.0);
    if ((params.flags & NORM_WEIGHTED) != 0u) { w[e] = norm_w[c]; }
//#end
  }
//#if ADD
  var added = 0.0;
  for (var e = 0u; e < EACH; e++) {
    if (e * THREADS + thread < FOURS) { added += dot(a[e], a[e]); }
  }
  square_cells[thread] = added;
  workgroupBarrier();
  squares_in_parts(thread);
  workgroupBarrier();
  let adding = params.add_scale / sqrt(mean_square() + params.add_eps);
//#end
//#if NORM
  var own = 0.0;
//#end
  for (var e = 0u; e < EACH; e++) {
    let c = e * THREADS + thread;
    if (c < FOURS) {
//#if ADD
      v[e] = v[e] * params.add_scale + a[e] * adding * aw[e];
      if (first) { add_out[c] = v[e]; }
//#end
//#if NORM
      own += dot(v[e], v[e]);
      put(c, v[e] * w[e]);
//#else
      put(c, v[e]);
//#end
    }
  }
  for (var c = FOURS + thread; c < COUNT * FOURS_OF_UNIT; c += THREADS) { put(c, vec4<f32>()); }
//#if NORM
  square_cells[thread] = own;
//#end
  workgroupBarrier();
  for (var s = thread; s < COUNT * SPANS; s += THREADS) {
    staged[s / SPANS].sum[s % SPANS] = span_sum(span_inputs(0u, s / SPANS, s % SPANS));
  }
//#if NORM
  squares_in_parts(thread);
//#end
  workgroupBarrier();
}

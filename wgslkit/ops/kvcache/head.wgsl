// A head's row of HEAD_DIM values in workgroup memory, normalised and rotated:
//   y = x / sqrt(mean(x²) + eps) ⊙ w,  then pair (y[n], y[n + rotated/2]) turned by rope_turn(position, n)
//
// Each thread puts the elements i ≡ lane (mod THREADS) of x into head_row and
// sums their squares; after head_normalise any thread may ask for any element.
// Uses THREADS, HEAD_DIM and the binding `head_weight: array<f32>`.

//#include "record/reduce.wgsl"
//#include "rope/rope.wgsl"

var<workgroup> head_row: array<f32, HEAD_DIM>;

fn head_normalise(squares: f32, eps: f32, normed: bool, weighted: bool, lane: u32) {
  let mean = workgroup_sum(squares, lane) / f32(HEAD_DIM);
  if (normed) {
    let inverse = 1.0 / sqrt(mean + eps);
    for (var i = lane; i < HEAD_DIM; i += THREADS) {
      var v = head_row[i] * inverse;
      if (weighted) { v = v * head_weight[i]; }
      head_row[i] = v;
    }
  }
  workgroupBarrier();
}

// head_rotated is element i at a position; the first `rotated` elements turn.
fn head_rotated(i: u32, position: u32, rotated: u32) -> f32 {
  if (i >= rotated) { return head_row[i]; }
  let half = rotated / 2u;
  if (i < half) {
    let turn = rope_turn(position, i);
    return head_row[i] * turn.x - head_row[i + half] * turn.y;
  }
  let turn = rope_turn(position, i - half);
  return head_row[i] * turn.x + head_row[i - half] * turn.y;
}

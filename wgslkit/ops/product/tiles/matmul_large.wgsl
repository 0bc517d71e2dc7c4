// out[t, r] = W[r]·x[t], or with GATED act(W[2r]·x) · (W[2r+1]·x), then what
// activation.wgsl names and `mul`: matmul.wgsl in larger tiles, for as many rows
// and tokens as fill a large GPU with them.
//
// A workgroup of 16 × 16 threads makes a tile of 128 rows × 128 tokens, 16
// columns of it at a time, which it puts into memory, [column][rows, tokens].
// Thread x + 16·y makes the rows 4x … 4x+3 and 64 more, by the tokens 4y … 4y+3
// and 64 more.
//
// Threads 0–127 decode a unit of a row each and the others read a token's. Plain
// numbers are for matmul_plain.wgsl.
//
// Where SPLIT, workgroups of neighbouring z share the columns, and leave their
// sums for matmul_sum.wgsl: out[z][token][row], with room for `capacity` tokens.
// Where LOW_RANK, the columns of low_rank.wgsl follow, in the first split.
//
// Grid: x = tiles of rows, y = tiles of tokens, z = splits.

//#include "large_tiles.wgsl"

// Indices that are numbers need no check of their bounds: most compilers of WGSL
// put one before every other.
var<workgroup> tiles: array<array<array<Four, 64>, 8>, 2>; // [8 columns of each half][128 rows, 128 tokens]

// multiply adds the products of the 16 columns in memory; narrow says that no more
// than 64 of the tokens exist.
fn multiply(thread: u32, narrow: bool) {
  let tx = thread & 15u;
  let ty = thread >> 4u;
  if (narrow) {
    add_four(tiles[0][0][tx], tiles[0][0][tx + 16u], tiles[0][0][ty + 32u]);
    add_four(tiles[0][1][tx], tiles[0][1][tx + 16u], tiles[0][1][ty + 32u]);
    add_four(tiles[0][2][tx], tiles[0][2][tx + 16u], tiles[0][2][ty + 32u]);
    add_four(tiles[0][3][tx], tiles[0][3][tx + 16u], tiles[0][3][ty + 32u]);
    add_four(tiles[0][4][tx], tiles[0][4][tx + 16u], tiles[0][4][ty + 32u]);
    add_four(tiles[0][5][tx], tiles[0][5][tx + 16u], tiles[0][5][ty + 32u]);
    add_four(tiles[0][6][tx], tiles[0][6][tx + 16u], tiles[0][6][ty + 32u]);
    add_four(tiles[0][7][tx], tiles[0][7][tx + 16u], tiles[0][7][ty + 32u]);
    add_four(tiles[1][0][tx], tiles[1][0][tx + 16u], tiles[1][0][ty + 32u]);
    add_four(tiles[1][1][tx], tiles[1][1][tx + 16u], tiles[1][1][ty + 32u]);
    add_four(tiles[1][2][tx], tiles[1][2][tx + 16u], tiles[1][2][ty + 32u]);
    add_four(tiles[1][3][tx], tiles[1][3][tx + 16u], tiles[1][3][ty + 32u]);
    add_four(tiles[1][4][tx], tiles[1][4][tx + 16u], tiles[1][4][ty + 32u]);
    add_four(tiles[1][5][tx], tiles[1][5][tx + 16u], tiles[1][5][ty + 32u]);
    add_four(tiles[1][6][tx], tiles[1][6][tx + 16u], tiles[1][6][ty + 32u]);
    add_four(tiles[1][7][tx], tiles[1][7][tx + 16u], tiles[1][7][ty + 32u]);
    return;
  }
  add(tiles[0][0][tx], tiles[0][0][tx + 16u], tiles[0][0][ty + 32u], tiles[0][0][ty + 48u]);
  add(tiles[0][1][tx], tiles[0][1][tx + 16u], tiles[0][1][ty + 32u], tiles[0][1][ty + 48u]);
  add(tiles[0][2][tx], tiles[0][2][tx + 16u], tiles[0][2][ty + 32u], tiles[0][2][ty + 48u]);
  add(tiles[0][3][tx], tiles[0][3][tx + 16u], tiles[0][3][ty + 32u], tiles[0][3][ty + 48u]);
  add(tiles[0][4][tx], tiles[0][4][tx + 16u], tiles[0][4][ty + 32u], tiles[0][4][ty + 48u]);
  add(tiles[0][5][tx], tiles[0][5][tx + 16u], tiles[0][5][ty + 32u], tiles[0][5][ty + 48u]);
  add(tiles[0][6][tx], tiles[0][6][tx + 16u], tiles[0][6][ty + 32u], tiles[0][6][ty + 48u]);
  add(tiles[0][7][tx], tiles[0][7][tx + 16u], tiles[0][7][ty + 32u], tiles[0][7][ty + 48u]);
  add(tiles[1][0][tx], tiles[1][0][tx + 16u], tiles[1][0][ty + 32u], tiles[1][0][ty + 48u]);
  add(tiles[1][1][tx], tiles[1][1][tx + 16u], tiles[1][1][ty + 32u], tiles[1][1][ty + 48u]);
  add(tiles[1][2][tx], tiles[1][2][tx + 16u], tiles[1][2][ty + 32u], tiles[1][2][ty + 48u]);
  add(tiles[1][3][tx], tiles[1][3][tx + 16u], tiles[1][3][ty + 32u], tiles[1][3][ty + 48u]);
  add(tiles[1][4][tx], tiles[1][4][tx + 16u], tiles[1][4][ty + 32u], tiles[1][4][ty + 48u]);
  add(tiles[1][5][tx], tiles[1][5][tx + 16u], tiles[1][5][ty + 32u], tiles[1][5][ty + 48u]);
  add(tiles[1][6][tx], tiles[1][6][tx + 16u], tiles[1][6][ty + 32u], tiles[1][6][ty + 48u]);
  add(tiles[1][7][tx], tiles[1][7][tx + 16u], tiles[1][7][ty + 32u], tiles[1][7][ty + 48u]);
}

// write ends rows r … r+3 and r+64 … r+67 of token t.
fn write(t: u32, r: u32, sums: vec4<f32>, more: vec4<f32>, split: u32) {
  if (t >= state[1]) { return; }
  let a = unscaled(t, sums);
  let b = unscaled(t, more);
//#if SPLIT
  let to = ((split * params.capacity + t) * params.rows + r) / 4u;
  if (r < params.rows) { out[to] = a; }
  if (r + 64u < params.rows) { out[to + 16u] = b; }
//#else
  if (r < params.rows) { finish_four(t, params.first + r, a); }
  if (r + 64u < params.rows) { finish_four(t, params.first + r + 64u, b); }
//#end
}

// Held is what a thread has of a unit: 16 columns for each span.
struct Held {
  a: mat4x4<f32>,
//#if SPANS != 1
  b: mat4x4<f32>,
//#end
//#if SPANS == 4
  c: mat4x4<f32>, d: mat4x4<f32>,
//#end
}

fn scaled(q: mat4x4<f32>, scale: f32, low: f32) -> mat4x4<f32> {
  let l = vec4<f32>(low);
  return mat4x4<f32>(q[0] * scale + l, q[1] * scale + l, q[2] * scale + l, q[3] * scale + l);
}

fn held_row(row: u32, unit: u32) -> Held {
  let w = decode(row, unit);
  return Held(
    scaled(w.q[0], w.scale.x, w.low.x),
//#if SPANS != 1
    scaled(w.q[1], w.scale.y, w.low.y),
//#end
//#if SPANS == 4
    scaled(w.q[2], w.scale.z, w.low.z), scaled(w.q[3], w.scale.w, w.low.w),
//#end
  );
}

// sixteen_inputs is a token's columns from `at` on, in fours.
fn sixteen_inputs(at: u32) -> mat4x4<f32> {
  return mat4x4<f32>(input_of(x[at]), input_of(x[at + 1u]), input_of(x[at + 2u]), input_of(x[at + 3u]));
}

fn held_token(at: u32, unit: u32) -> Held {
  return Held(
    sixteen_inputs(at + span_column(unit, 0u) / 4u),
//#if SPANS != 1
    sixteen_inputs(at + span_column(unit, 1u) / 4u),
//#end
//#if SPANS == 4
    sixteen_inputs(at + span_column(unit, 2u) / 4u), sixteen_inputs(at + span_column(unit, 3u) / 4u),
//#end
  );
}

// hold is what thread reads of a unit; at is its row's or its token's.
fn hold(thread: u32, at: u32, unit: u32) -> Held {
  if (thread < 128u) { return held_row(at, unit); }
  return held_token(at, unit);
}

// store puts 16 columns of a row or a token into memory.
fn store(v: mat4x4<f32>, thread: u32) {
  let to = thread >> 2u;
  let c = thread & 3u;
  let v0 = Four(v[0]);
  let v1 = Four(v[1]);
  let v2 = Four(v[2]);
  let v3 = Four(v[3]);
  tiles[0][0][to][c] = v0.x; tiles[0][1][to][c] = v0.y; tiles[0][2][to][c] = v0.z; tiles[0][3][to][c] = v0.w;
  tiles[0][4][to][c] = v1.x; tiles[0][5][to][c] = v1.y; tiles[0][6][to][c] = v1.z; tiles[0][7][to][c] = v1.w;
  tiles[1][0][to][c] = v2.x; tiles[1][1][to][c] = v2.y; tiles[1][2][to][c] = v2.z; tiles[1][3][to][c] = v2.w;
  tiles[1][4][to][c] = v3.x; tiles[1][5][to][c] = v3.y; tiles[1][6][to][c] = v3.z; tiles[1][7][to][c] = v3.w;
}

fn sum_units(workgroup: vec3<u32>, thread: u32, begin: u32, end: u32) {
  let first_token = workgroup.y * 128u;
  let narrow = first_token + 64u >= state[1];
  // What rows and tokens beyond the last get is not used.
  var at = min(workgroup.x * 128u + (thread & 127u), params.rows - 1u) * params.row_size;
  if (thread >= 128u) { at = token_at(min(first_token + (thread & 127u), state[1] - 1u)); }
  for (var unit = begin; unit < end; unit++) {
    let held = hold(thread, at, unit);
    for (var span = 0u; span < SPANS; span++) {
      workgroupBarrier();
      switch span {
//#if SPANS != 1
        case 1u: { store(held.b, thread); }
//#end
//#if SPANS == 4
        case 2u: { store(held.c, thread); }
        case 3u: { store(held.d, thread); }
//#end
        default: { store(held.a, thread); }
      }
      workgroupBarrier();
      multiply(thread, narrow);
    }
  }
}

//#if LOW_RANK
// sum_low adds what low_rank.wgsl says, 16 columns of u at a time.
fn sum_low(workgroup: vec3<u32>, thread: u32) {
  let first_token = workgroup.y * 128u;
  let row = low_row(params.first + min(workgroup.x * 128u + (thread & 127u), params.rows - 1u));
  let token = min(first_token + (thread & 127u), state[1] - 1u);
  for (var k = 0u; k < params.low.stride; k += 4u) {
    workgroupBarrier();
    if (thread < 128u) {
      store(low_sixteen(row, k), thread);
    } else {
      store(mat4x4<f32>(low_inputs(token, k), low_inputs(token, k + 1u), low_inputs(token, k + 2u),
        low_inputs(token, k + 3u)), thread);
    }
    workgroupBarrier();
    multiply(thread, first_token + 64u >= state[1]);
  }
}
//#end

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let first_token = workgroup.y * 128u;
  if (first_token >= state[1]) { return; }
//#if SHARED_CODEBOOK
  share_codebook(thread, 256u);
//#end
  sum_units(workgroup, thread, workgroup.z * params.units / params.splits,
    (workgroup.z + 1u) * params.units / params.splits);
//#if LOW_RANK
  if (workgroup.z == 0u) { sum_low(workgroup, thread); }
//#end
  let t = first_token + (thread >> 4u) * 4u;
  let r = workgroup.x * 128u + (thread & 15u) * 4u;
  write(t, r, acc[0], acc[1], workgroup.z);
  write(t + 1u, r, acc[2], acc[3], workgroup.z);
  write(t + 2u, r, acc[4], acc[5], workgroup.z);
  write(t + 3u, r, acc[6], acc[7], workgroup.z);
  write(t + 64u, r, acc[8], acc[9], workgroup.z);
  write(t + 65u, r, acc[10], acc[11], workgroup.z);
  write(t + 66u, r, acc[12], acc[13], workgroup.z);
  write(t + 67u, r, acc[14], acc[15], workgroup.z);
}

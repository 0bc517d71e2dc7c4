// attention_full.wgsl on subgroup matrices: numbers are float16, and sums float32,
//
//   s[t, j] = Σ_c q[t, c] · k[j, c],  w[t, j] = half(exp(s[t, j] − m[t])),
//   out[t, c] = Σ_j w[t, j] · v[j, c] / Σ_j w[t, j]
//
// with q, keys and values of grid_heads.wgsl, all [head][token][DIM], and 0 from
// HEAD_DIM on. The sum below is of the weights as they were rounded, so that they
// come to 1 together, and what all values have in common is not rounded at all.
//
// A workgroup of 4 subgroups takes 4 · MATRIX tokens of one head and walks over all
// keys, KEYS at a time. A subgroup has MATRIX tokens, its queries and its part of out in
// matrices, and goes from scores to weights through memory, where SHARERS threads
// share a row. The next keys and values are under way meanwhile.
//
// Rows of a matrix cannot be multiplied each by its own factor where they are. m[t] is
// therefore no row's largest score, but 2² below the largest that was seen when
// it was chosen, and chosen again only where a score is 2¹⁵ above it: then, and not
// for every tile, sums go through memory. So weights are at most 2¹⁵; those of 2⁻¹⁶ of
// the largest are still numbers of 11 bits, and smaller ones are off by 2⁻²⁷ of it.
//
// Grid: x = heads, y = tiles of 4 · MATRIX tokens.

//#enable f16
//#enable subgroups
//#enable chromium_experimental_subgroup_matrix

struct Params { heads: u32, slots: u32 }

@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read> q: array<vec4<f16>>; // with room for a last tile
@group(0) @binding(2) var<storage, read> keys: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> cached: array<vec4<u32>>;
@group(0) @binding(4) var<storage, read_write> out: array<vec4<f32>>;
@group(0) @binding(5) var<uniform> params: Params;

alias Left = subgroup_matrix_left<f16, MATRIX_K, MATRIX>;
alias Right = subgroup_matrix_right<f16, MATRIX, MATRIX_K>;
alias Result = subgroup_matrix_result<f32, MATRIX, MATRIX>;

const ROWS: u32 = 4u * MATRIX;
const THREADS: u32 = 4u * SUBGROUP;
const EIGHTS: u32 = DIM / 8u;            // of a key
const PITCH: u32 = DIM / 4u + 2u;        // fours from key to key in memory: two more keep them off each other's banks
const ROW_PITCH: u32 = KEYS / 4u + 2u;   // and from row to row of scores and weights
const ABREAST: u32 = KEYS / MATRIX;      // matrices of a subgroup that scores have room for
const CHUNKS: u32 = (DIMS + ABREAST - 1u) / ABREAST;
const NOTHING: f32 = -1e30;
const LOG2E: f32 = 1.4426950408889634;
const LIFT: f32 = 2.0;  // what the largest score is above m when that is chosen,
const MOST: f32 = 15.0; // and before it is chosen again; both as powers of two

var<workgroup> key_tile: array<vec4<f16>, KEYS * PITCH>;    // [key][column]
var<workgroup> value_tile: array<vec4<f16>, KEYS * PITCH>;  // [key][column]
// Of each subgroup's rows, so that it reads and writes matrices at constant places: Dawn
// puts a branch around every other one.
var<workgroup> scores: array<array<vec4<f32>, MATRIX * ROW_PITCH>, 4>;  // [row][key], or sums, [row][column]
// Not so of weights: NVIDIA's driver 580.159 reads left matrices of 16 by 16 from wrong
// places in an array of arrays like the one above.
var<workgroup> weights: array<vec4<f16>, ROWS * ROW_PITCH>;             // [row][key]
var<workgroup> chosen: atomic<u32>;                         // the last tile for which a row chose again

fn put_key(i: u32, v: vec4<u32>) {
//#if RAGGED
  if (i >= KEYS * EIGHTS) { return; }
//#end
  let to = i / EIGHTS * PITCH + i % EIGHTS * 2u;
  key_tile[to] = bitcast<vec4<f16>>(v.xy);
  key_tile[to + 1u] = bitcast<vec4<f16>>(v.zw);
}

fn put_value(i: u32, v: vec4<u32>) {
//#if RAGGED
  if (i >= KEYS * EIGHTS) { return; }
//#end
  let to = i / EIGHTS * PITCH + i % EIGHTS * 2u;
  value_tile[to] = bitcast<vec4<f16>>(v.xy);
  value_tile[to + 1u] = bitcast<vec4<f16>>(v.zw);
}

// hidden makes nothing of the scores of keys beyond the last; key is the first of four.
fn hidden(v: vec4<f32>, key: u32, width: u32) -> vec4<f32> {
  return select(v, vec4<f32>(NOTHING), vec4<u32>(key) + vec4<u32>(0u, 1u, 2u, 3u) >= vec4<u32>(width));
}

@compute @workgroup_size(THREADS)
@diagnostic(off, chromium.subgroup_matrix_uniformity)
fn main(@builtin(workgroup_id) workgroup: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
  let width = state[1];
  let head = workgroup.x;
  let first_row = workgroup.y * ROWS;
  if (first_row >= width) { return; }
  let begin = head * params.slots * EIGHTS; // of the head's keys, and of its values
  let last = begin + width * EIGHTS - 1u;
  let subgroup = thread / SUBGROUP;
  let own = thread % SUBGROUP / SHARERS;       // the thread's row of the subgroup's,
  let row = subgroup * MATRIX + own;           // and of the workgroup's
  let at = own * ROW_PITCH + thread % SHARERS; // of the thread's fours of a row, each SHARERS on
  let own_weights = subgroup * MATRIX * ROW_PITCH; // of the subgroup's

//#repeat K DIM_STEPS
  let q${K} = subgroupMatrixLoad<Left, row_major>(&q,
    ((head * params.slots + first_row + subgroup * MATRIX) * DIM + ${K}u * MATRIX_K) / 4u, DIM / 4u);
//#end
//#repeat D DIMS
  var o${D}: Result;
//#end
//#repeat I PIECES
  let i${I} = thread + ${I}u * THREADS;
  put_key(i${I}, keys[min(begin + i${I}, last)]);
  var key${I} = keys[min(begin + KEYS * EIGHTS + i${I}, last)];
  var value${I} = cached[min(begin + i${I}, last)];
//#end
  workgroupBarrier();

  var top = NOTHING; // m, times log₂ e
  var total = vec4<f32>();
  for (var first = 0u; first < width; first += KEYS) {
    // Dawn clears a variable that has no value once, however often a loop comes by.
//#repeat N KEY_MATRICES
    var s${N} = Result();
//#end
//#repeat K DIM_STEPS
//#repeat N KEY_MATRICES
    s${N} = subgroupMatrixMultiplyAccumulate(q${K},
      subgroupMatrixLoad<Right, col_major>(&key_tile, ${N}u * MATRIX * PITCH + ${K}u * MATRIX_K / 4u, PITCH), s${N});
//#end
//#end
//#repeat N KEY_MATRICES
    subgroupMatrixStore<row_major>(&scores[subgroup], ${N}u * MATRIX / 4u, s${N}, ROW_PITCH);
//#end
    workgroupBarrier(); // the keys have been read, and the last tile's values and weights

    let ahead = begin + (first + KEYS) * EIGHTS;
//#repeat I PIECES
    put_key(i${I}, key${I});
    put_value(i${I}, value${I});
    key${I} = keys[min(ahead + KEYS * EIGHTS + i${I}, last)];
    value${I} = cached[min(ahead + i${I}, last)];
//#end

//#repeat F FOURS
    var w${F} = scores[subgroup][at + ${F}u * SHARERS] * LOG2E;
//#end
    if (first + KEYS > width) {
//#repeat F FOURS
      w${F} = hidden(w${F}, first + 4u * (thread % SHARERS + ${F}u * SHARERS), width);
//#end
    }
    var four = w0;
//#repeat F FOURS
    four = max(four, w${F});
//#end
    var largest = max(max(four.x, four.y), max(four.z, four.w));
//#repeat B SHARER_BITS
    largest = max(largest, subgroupShuffleXor(largest, 1u << ${B}u));
//#end
    var fade = 1.0;
    if (largest > top + MOST) {
      fade = exp2(top + LIFT - largest);
      top = largest - LIFT;
      total *= fade;
      if (row + first_row < width) { atomicStore(&chosen, first); }
    }
    // Every row has seen the first key, so that what is nothing becomes 0.
//#repeat F FOURS
    let h${F} = vec4<f16>(exp2(w${F} - top));
    weights[own_weights + at + ${F}u * SHARERS] = h${F};
    total += vec4<f32>(h${F});
//#end

    // Where nobody chose, some number that happens to be `first` costs time alone: every row
    // fades by 1. Of the first tile, sums are 0 anyway.
    let again = workgroupUniformLoad(&chosen) == first; // the weights are there, and the next keys
    if (again && first > 0u) {
      for (var chunk = 0u; chunk < CHUNKS; chunk++) {
//#repeat D DIMS
        if (${D}u / ABREAST == chunk) {
          subgroupMatrixStore<row_major>(&scores[subgroup], ${D}u % ABREAST * MATRIX / 4u, o${D}, ROW_PITCH);
        }
//#end
        workgroupBarrier();
//#repeat F FOURS
        scores[subgroup][at + ${F}u * SHARERS] *= fade;
//#end
        workgroupBarrier();
//#repeat D DIMS
        if (${D}u / ABREAST == chunk) {
          o${D} = subgroupMatrixLoad<Result, row_major>(&scores[subgroup], ${D}u % ABREAST * MATRIX / 4u, ROW_PITCH);
        }
//#end
        workgroupBarrier();
      }
    }

//#repeat K KEY_STEPS
    let p${K} = subgroupMatrixLoad<Left, row_major>(&weights, own_weights + ${K}u * MATRIX_K / 4u, ROW_PITCH);
//#repeat D DIMS
    o${D} = subgroupMatrixMultiplyAccumulate(p${K},
      subgroupMatrixLoad<Right, row_major>(&value_tile, ${K}u * MATRIX_K * PITCH + ${D}u * MATRIX / 4u, PITCH), o${D});
//#end
//#end
  }

  var sum = (total.x + total.y) + (total.z + total.w);
//#repeat B SHARER_BITS
  sum += subgroupShuffleXor(sum, 1u << ${B}u);
//#end
  let token = first_row + row;
  let to = (token * params.heads + head) * (HEAD_DIM / 4u);
  for (var chunk = 0u; chunk < CHUNKS; chunk++) {
//#repeat D DIMS
    if (${D}u / ABREAST == chunk) {
      subgroupMatrixStore<row_major>(&scores[subgroup], ${D}u % ABREAST * MATRIX / 4u, o${D}, ROW_PITCH);
    }
//#end
    workgroupBarrier();
    let column = chunk * (KEYS / 4u) + thread % SHARERS;
    for (var f = 0u; f < KEYS / 4u; f += SHARERS) {
      if (token < width && column + f < HEAD_DIM / 4u) {
        out[to + column + f] = scores[subgroup][at + f] * (1.0 / sum);
      }
    }
    workgroupBarrier();
  }
}

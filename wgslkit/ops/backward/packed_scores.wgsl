// What the kernels of packed attention share: tiles of scores between 32 own
// rows, to which a workgroup's results belong, and 32 others. Own rows are
// queries, others keys; or the other way round where OWN_KEYS.
//
// own row a sees the others from ranges[a].x up to ranges[a].y; a row beyond the
// last sees none. The buffers hold the others from params.first up to params.end,
// and others are counted from that first one. GROUPS of 64 threads share the columns of a score, 8 · GROUPS
// of which are in memory at a time; the first group has the sums, thread x + 8·y
// of own rows 4y … 4y+3 by others 4x … 4x+3.
//
// The includer binds ranges, q [rows, H, D], k and v [keys, H', D] and, where
// SECOND is used, dout [rows, H, D].

const CHUNK: u32 = 8u * GROUPS;
const CELLS: u32 = 9u * CHUNK;

// The columns of both tiles, then the sums of all groups but the first: SCRATCH
// is the larger of 2 · CELLS and 256 · (GROUPS − 1).
var<workgroup> scratch: array<vec4<f32>, SCRATCH>;
var<private> sums: array<vec4<f32>, 4>; // of own row 4y + i

fn kv_head(head: u32) -> u32 { return head / (params.heads / params.kv_heads); }

fn query_at(row: u32, head: u32) -> u32 { return (row * params.heads + head) * HEAD_DIM; }

fn key_at(row: u32, head: u32) -> u32 { return (row * params.kv_heads + kv_head(head)) * HEAD_DIM; }

// The values whose products are scores, or where second their gradients.
fn own_value(row: u32, head: u32, i: u32, second: bool) -> f32 {
//#if OWN_KEYS
//#if SECOND
  if (second) { return v[key_at(row, head) + i]; }
//#end
  return k[key_at(row, head) + i];
//#else
//#if SECOND
  if (second) { return dout[query_at(row, head) + i]; }
//#end
  return q[query_at(row, head) + i];
//#end
}

fn other_value(row: u32, head: u32, i: u32, second: bool) -> f32 {
//#if OWN_KEYS
//#if SECOND
  if (second) { return dout[query_at(row, head) + i]; }
//#end
  return q[query_at(row, head) + i];
//#else
//#if SECOND
  if (second) { return v[key_at(row, head) + i]; }
//#end
  return k[key_at(row, head) + i];
//#end
}

// What the thread loads for the next columns, while these are multiplied.
var<private> own_next: array<f32, 4>;
var<private> other_next: array<f32, 4>;

fn fetch(first_own: u32, first: u32, last: u32, head: u32, chunk: u32, second: bool, thread: u32) {
  let c = thread % CHUNK;
  for (var n = 0u; n < 4u; n++) {
    let row = thread / CHUNK + n * 8u;
    own_next[n] = 0.0;
    other_next[n] = 0.0;
    if (chunk + c < HEAD_DIM) {
      own_next[n] = own_value(first_own + row, head, chunk + c, second);
      other_next[n] = other_value(min(first + row, last), head, chunk + c, second);
    }
  }
}

fn put(thread: u32) {
  let at = thread % CHUNK * 9u;
  for (var n = 0u; n < 4u; n++) {
    let row = thread / CHUNK + n * 8u;
    scratch[at + row / 4u][row % 4u] = own_next[n];
    scratch[CELLS + at + row / 4u][row % 4u] = other_next[n];
  }
}

// tile_sums makes the sums of the others from `first` on; none is read beyond last.
fn tile_sums(first_own: u32, first: u32, last: u32, head: u32, second: bool, thread: u32) {
  let x = thread % 8u;
  let y = thread / 8u % 8u;
  let group = thread / 64u;
  for (var i = 0u; i < 4u; i++) { sums[i] = vec4<f32>(); }
  fetch(first_own, first, last, head, 0u, second, thread);
  for (var chunk = 0u; chunk < HEAD_DIM; chunk += CHUNK) {
    workgroupBarrier();
    put(thread);
    workgroupBarrier();
    fetch(first_own, first, last, head, chunk + CHUNK, second, thread);
    for (var c = 8u * group; c < 8u * group + 8u; c++) {
      let p = scratch[c * 9u + y];
      let o = scratch[CELLS + c * 9u + x];
      sums[0] += o * p.x;
      sums[1] += o * p.y;
      sums[2] += o * p.z;
      sums[3] += o * p.w;
    }
  }
//#if GROUPS != 1
  workgroupBarrier();
  if (group > 0u) {
    for (var i = 0u; i < 4u; i++) { scratch[(group - 1u) * 256u + i * 64u + thread % 64u] = sums[i]; }
  }
  workgroupBarrier();
  if (group == 0u) {
    for (var g = 0u; g < GROUPS - 1u; g++) {
      for (var i = 0u; i < 4u; i++) { sums[i] += scratch[g * 256u + i * 64u + thread]; }
    }
  }
//#end
}

fn seen_by(own: u32) -> vec2<u32> {
  return clamp(ranges[own], vec2<u32>(params.first), vec2<u32>(params.end)) - params.first;
}

// sees says which of four others from `other` on own row `own` sees.
fn sees(own: u32, other: u32) -> vec4<bool> {
  let range = seen_by(own);
  let j = vec4<u32>(other) + vec4<u32>(0u, 1u, 2u, 3u);
  return (j >= vec4<u32>(range.x)) & (j < vec4<u32>(range.y));
}

// span is what all own rows together see.
fn span(first_own: u32) -> vec2<u32> {
  var s = vec2<u32>(0xffffffffu, 0u);
  for (var i = 0u; i < 32u; i++) {
    let range = seen_by(first_own + i);
    if (range.x < range.y) { s = vec2<u32>(min(s.x, range.x), max(s.y, range.y)); }
  }
  return s;
}

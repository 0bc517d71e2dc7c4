// The pairs (token, slot) that each expert was chosen for, ids[t, slot], in runs:
//
//   pairs = all t·slots + slot in the order of their experts, of one expert in their own
//   tiles[i] = (expert, its tile's first place in pairs, how many of them, 0)
//
// An expert's run is cut into tiles of TILE pairs. Its first is tile
// ⌊b / TILE⌋ + expert, b being where its run begins: at most one of its tiles is then
// empty, and where no expert's tiles lie needs to be told to another. Tiles without
// pairs have a count of 0, as have those that only a longer replay uses.
//
// One workgroup for each expert, which reads all ids twice.

struct Params {
  experts: u32,
  slots: u32,
  tiles: u32, // of a program's full width
}

@group(0) @binding(0) var<storage, read> state: array<u32>;
@group(0) @binding(1) var<storage, read> ids: array<u32>;
@group(0) @binding(2) var<storage, read_write> pairs: array<u32>;
@group(0) @binding(3) var<storage, read_write> tiles: array<vec4<u32>>;
@group(0) @binding(4) var<uniform> params: Params;

// How many of each thread's pairs belong to this expert, and to those before it.
var<workgroup> own: array<u32, THREADS>;
var<workgroup> before: array<u32, THREADS>;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let expert = group.x;
  let n = state[1] * params.slots;
  let share = (n + THREADS - 1u) / THREADS;
  let first = min(lane * share, n);
  let end = min(first + share, n);
  var count = 0u;
  var lower = 0u;
  for (var i = first; i < end; i++) {
    let id = ids[i];
    if (id == expert) { count++; }
    if (id < expert) { lower++; }
  }
  own[lane] = count;
  before[lane] = lower;
  workgroupBarrier();

  var begin = 0u;
  var of_lanes_before = 0u;
  var total = 0u;
  for (var l = 0u; l < THREADS; l++) {
    begin += before[l];
    total += own[l];
    if (l < lane) { of_lanes_before += own[l]; }
  }
  var to = begin + of_lanes_before;
  for (var i = first; i < end; i++) {
    if (ids[i] == expert) {
      pairs[to] = i;
      to++;
    }
  }

  let first_tile = begin / TILE + expert;
  let end_tile = select((begin + total) / TILE + expert + 1u, params.tiles, expert + 1u == params.experts);
  for (var tile = first_tile + lane; tile < end_tile; tile += THREADS) {
    let done = (tile - first_tile) * TILE;
    tiles[tile] = vec4<u32>(expert, begin + done, min(max(total, done) - done, TILE), 0u);
  }
}

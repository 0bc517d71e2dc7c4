// Positions of a cache, to or from rows that know nothing of slots:
//   rows[i, 0, h, w] = keys, rows[i, 1, h, w] = values, of position first + i, kv head h, word w of its row
//
// A row is WORDS words, which the cache holds in ROW_CELLS cells of CELL_WORDS. WRITE
// says whether the cache is written or read. One thread for each word;
// store_kv.wgsl draws the cache's layout.

struct Params { heads: u32, first_head: u32, all_heads: u32, slots: u32, first: u32, count: u32 }

//#if WRITE
@group(0) @binding(0) var<storage, read_write> keys: array<u32>;
@group(0) @binding(1) var<storage, read_write> values: array<u32>;
@group(0) @binding(2) var<storage, read> rows: array<u32>;
//#else
@group(0) @binding(0) var<storage, read> keys: array<u32>;
@group(0) @binding(1) var<storage, read> values: array<u32>;
@group(0) @binding(2) var<storage, read_write> rows: array<u32>;
//#end
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) lane: u32) {
  let id = (group.x + group.y * groups.x) * THREADS + lane;
  if (id >= params.count * params.heads * WORDS) { return; }
  let w = id % WORDS;
  let head = id / WORDS % params.heads;
  let i = id / WORDS / params.heads;
  let slot = (params.first + i) % params.slots;
  let key = ((head * ROW_CELLS + w / CELL_WORDS) * params.slots + slot) * CELL_WORDS + w % CELL_WORDS;
  let value = (head * params.slots + slot) * ROW_CELLS * CELL_WORDS + w;
  let row = (i * 2u * params.all_heads + params.first_head + head) * WORDS + w;
//#if WRITE
  keys[key] = rows[row];
  values[value] = rows[row + params.all_heads * WORDS];
//#else
  rows[row] = keys[key];
  rows[row + params.all_heads * WORDS] = values[value];
//#end
}

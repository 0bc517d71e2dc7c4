// to[first + r·step] ← row r of `from`, re-laid: a ggml row is blocks of
// bytes; here each plane (a run of bytes of every block, stride bytes apart)
// stands for itself, from a whole 16-byte word on, with zeros behind.
//
// One thread for each 32-bit word of the result. Offsets and sizes in most ggml
// blocks are even, so that words are put together from two halves; where any is
// odd, these are put together from bytes.

struct Plane {
  begin: u32,  // 16-byte words into a row of the result
  offset: u32, // bytes into a block of the source
  bytes: u32,  // of each block
  stride: u32, // bytes from block to block in the result
}

struct Params {
  rows: u32,
  words: u32,      // 32-bit words of a row of the result
  first: u32,
  step: u32,
  blocks: u32,     // in a row
  block_bytes: u32,
  planes: u32,
  odd: u32,        // whether offsets or sizes are
  plane: array<Plane, 3>,
}

@group(0) @binding(0) var<storage, read> source: array<u32>;
@group(0) @binding(1) var<storage, read_write> to: array<u32>;
@group(0) @binding(2) var<storage, read> params: Params;

fn half_word(at: u32) -> u32 { return (source[at / 4u] >> (at % 4u * 8u)) & 0xffffu; }

// byte_of is byte `at` of a plane in row r.
fn byte_of(r: u32, p: Plane, at: u32) -> u32 {
  let block = at / p.stride;
  let byte = at % p.stride;
  if (block >= params.blocks || byte >= p.bytes) { return 0u; }
  let start = (r * params.blocks + block) * params.block_bytes + p.offset + byte;
  return (source[start / 4u] >> (start % 4u * 8u)) & 0xffu;
}

// half_of is the two bytes at byte `at` of a plane in row r.
fn half_of(r: u32, p: Plane, at: u32) -> u32 {
  if (params.odd != 0u) { return byte_of(r, p, at) | (byte_of(r, p, at + 1u) << 8u); }
  let block = at / p.stride;
  let byte = at % p.stride;
  if (block >= params.blocks || byte >= p.bytes) { return 0u; }
  return half_word((r * params.blocks + block) * params.block_bytes + p.offset + byte);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>,
  @builtin(local_invocation_index) lane: u32) {
  let i = (group.y * groups.x + group.x) * 64u + lane;
  let r = i / params.words;
  if (r >= params.rows) { return; }
  let word = i % params.words;
  var p = params.plane[0];
  if (params.planes > 1u && word / 4u >= params.plane[1].begin) { p = params.plane[1]; }
  if (params.planes > 2u && word / 4u >= params.plane[2].begin) { p = params.plane[2]; }
  let at = (word - 4u * p.begin) * 4u;
  to[(params.first + r * params.step) * params.words + word] = half_of(r, p, at) | (half_of(r, p, at + 2u) << 16u);
}

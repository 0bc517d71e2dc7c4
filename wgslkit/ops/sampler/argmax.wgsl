// The largest of the parts that argmax_parts.wgsl left: its id goes to out[0] and
// behind the others in list, whose word 0 counts them. Where none is a number that
// can be compared it is 0.

struct Params { parts: u32 }

@group(0) @binding(0) var<storage, read> part_values: array<f32>;
@group(0) @binding(1) var<storage, read> part_ids: array<u32>;
@group(0) @binding(2) var<storage, read_write> out: array<u32>;
@group(0) @binding(3) var<storage, read_write> list: array<u32>;
@group(0) @binding(4) var<uniform> params: Params;

//#include "argmax_of.wgsl"

@compute @workgroup_size(THREADS)
fn main(@builtin(local_invocation_index) lane: u32) {
  var value = least;
  var id = no_id;
  if (lane < params.parts) {
    value = part_values[lane];
    id = part_ids[lane];
  }
  argmax_of(lane, value, id);
  if (lane == 0u) {
    var found = best_id[0];
    if (found == no_id) { found = 0u; }
    out[0] = found;
    let n = list[0] + 1u;
    list[0] = n;
    if (n < arrayLength(&list)) { list[n] = found; }
  }
}

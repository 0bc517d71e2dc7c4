// Of each part of n values, the largest with its id, of equals the lower id. The id of
// value i is i or, where MAPPED, order[chosen[i / group] · group + i % group].
//
// One workgroup for each part, which takes every GROUPS-th run of THREADS values; the
// next step is argmax.wgsl.

struct Params { n: u32, group: u32, groups: u32 }

@group(0) @binding(0) var<storage, read> values: array<f32>;
@group(0) @binding(1) var<storage, read_write> part_values: array<f32>;
@group(0) @binding(2) var<storage, read_write> part_ids: array<u32>;
//#if MAPPED
@group(0) @binding(3) var<storage, read> chosen: array<u32>;
@group(0) @binding(4) var<storage, read> order: array<u32>;
@group(0) @binding(5) var<uniform> params: Params;
//#else
@group(0) @binding(3) var<uniform> params: Params;
//#end

//#include "argmax_of.wgsl"

fn id_of(i: u32) -> u32 {
//#if MAPPED
  return order[chosen[i / params.group] * params.group + i % params.group];
//#else
  return i;
//#end
}

@compute @workgroup_size(THREADS)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  var value = least;
  var id = no_id;
  for (var i = group.x * THREADS + lane; i < params.n; i += params.groups * THREADS) {
    let v = values[i];
    if (v >= value) {
      let mine = id_of(i);
      if (v > value || mine < id) {
        value = v;
        id = mine;
      }
    }
  }
  argmax_of(lane, value, id);
  if (lane == 0u) {
    part_values[group.x] = best_value[0];
    part_ids[group.x] = best_id[0];
  }
}

// F32: plane 0: the values.

struct Packed { a: vec4<u32>, b: vec4<u32>, c: vec4<u32>, d: vec4<u32> }

fn packed(row: u32, unit: u32) -> Packed {
  let at = row + 4u * unit;
  return Packed(weights[at], weights[at + 1u], weights[at + 2u], weights[at + 3u]);
}

fn unpacked(p: Packed, unit: u32) -> Unit {
  return Unit(
    array<mat4x4<f32>, 1>(mat4x4<f32>(bitcast<vec4<f32>>(p.a), bitcast<vec4<f32>>(p.b), bitcast<vec4<f32>>(p.c),
      bitcast<vec4<f32>>(p.d))),
    vec4<f32>(1.0), vec4<f32>(0.0));
}

// F16: plane 0: the values, two in each 32-bit word.

struct Packed { a: vec4<u32>, b: vec4<u32> }

fn packed(row: u32, unit: u32) -> Packed { return Packed(weights[row + 2u * unit], weights[row + 2u * unit + 1u]); }

fn unpacked(p: Packed, unit: u32) -> Unit {
  return Unit(
    array<mat4x4<f32>, 1>(mat4x4<f32>(
      vec4<f32>(unpack2x16float(p.a.x), unpack2x16float(p.a.y)),
      vec4<f32>(unpack2x16float(p.a.z), unpack2x16float(p.a.w)),
      vec4<f32>(unpack2x16float(p.b.x), unpack2x16float(p.b.y)),
      vec4<f32>(unpack2x16float(p.b.z), unpack2x16float(p.b.w)))),
    vec4<f32>(1.0), vec4<f32>(0.0));
}

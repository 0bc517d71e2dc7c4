// F16: plane 0: the values, two in each 32-bit word.

fn decode(row: u32, unit: u32) -> Unit {
  let a = weights[row + 2u * unit];
  let b = weights[row + 2u * unit + 1u];
  return Unit(
    array<mat4x4<f32>, 1>(mat4x4<f32>(
      vec4<f32>(unpack2x16float(a.x), unpack2x16float(a.y)), vec4<f32>(unpack2x16float(a.z), unpack2x16float(a.w)),
      vec4<f32>(unpack2x16float(b.x), unpack2x16float(b.y)), vec4<f32>(unpack2x16float(b.z), unpack2x16float(b.w)))),
    vec4<f32>(1.0), vec4<f32>(0.0));
}

// BF16: plane 0: the values, each the upper half of a float32, two in each
// 32-bit word.

fn upper(a: u32, b: u32) -> vec4<f32> {
  return bitcast<vec4<f32>>(vec4<u32>(a << 16u, a & 0xffff0000u, b << 16u, b & 0xffff0000u));
}

fn decode(row: u32, unit: u32) -> Unit {
  let a = weights[row + 2u * unit];
  let b = weights[row + 2u * unit + 1u];
  return Unit(
    array<mat4x4<f32>, 1>(mat4x4<f32>(upper(a.x, a.y), upper(a.z, a.w), upper(b.x, b.y), upper(b.z, b.w))),
    vec4<f32>(1.0), vec4<f32>(0.0));
}

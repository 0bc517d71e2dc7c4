// BF16: plane 0: the values, each the upper half of a float32, two in each
// 32-bit word.

fn upper(a: u32, b: u32) -> vec4<f32> {
  return bitcast<vec4<f32>>(vec4<u32>(a << 16u, a & 0xffff0000u, b << 16u, b & 0xffff0000u));
}

struct Packed { a: vec4<u32>, b: vec4<u32> }

fn packed(row: u32, unit: u32) -> Packed { return Packed(weights[row + 2u * unit], weights[row + 2u * unit + 1u]); }

fn unpacked(p: Packed, unit: u32) -> Unit {
  return Unit(
    array<mat4x4<f32>, 1>(mat4x4<f32>(upper(p.a.x, p.a.y), upper(p.a.z, p.a.w), upper(p.b.x, p.b.y),
      upper(p.b.z, p.b.w))),
    vec4<f32>(1.0), vec4<f32>(0.0));
}

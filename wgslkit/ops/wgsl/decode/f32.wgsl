// F32: plane 0: the values.

fn decode(row: u32, unit: u32) -> Unit {
  let at = row + 4u * unit;
  return Unit(
    array<mat4x4<f32>, 1>(mat4x4<f32>(
      bitcast<vec4<f32>>(weights[at]), bitcast<vec4<f32>>(weights[at + 1u]),
      bitcast<vec4<f32>>(weights[at + 2u]), bitcast<vec4<f32>>(weights[at + 3u]))),
    vec4<f32>(1.0), vec4<f32>(0.0));
}

// Eight independent chains of a = a·x + y in each thread, of four numbers each, for
// ROUNDS rounds: as many multiply-adds as a device does where none waits for memory.

@group(0) @binding(0) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  let x = vec4<f32>(0.9 + f32(id.x % 16u) * 0.001);
  let y = vec4<f32>(0.1, 0.2, 0.3, 0.4);
  var a = y; var b = y.yzwx; var c = y.zwxy; var d = y.wxyz;
  var e = x; var f = x + y; var g = x - y; var h = x * y;
  for (var i = 0u; i < ROUNDS; i++) {
    a = fma(a, x, y); b = fma(b, x, y); c = fma(c, x, y); d = fma(d, x, y);
    e = fma(e, x, y); f = fma(f, x, y); g = fma(g, x, y); h = fma(h, x, y);
  }
  out[id.x] = dot(a + b + c + d, e + f + g + h);
}

// What ends a product for many tokens: flag MULTIPLIED, softcap, the place in out.

//#include "bounds.wgsl"

fn finish(t: u32, r: u32, value: f32) {
  var v = value;
  if ((params.flags & MULTIPLIED) != 0u) { v = v * mul[t * params.mul_stride + params.mul_offset + r]; }
  out[t * params.out_stride + params.out_offset + r] = softcapped(v, params.softcap);
}

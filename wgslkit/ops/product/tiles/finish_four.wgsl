// What ends a product for many tokens, of four neighbouring rows at a time that
// begin at a multiple of 4: finish.wgsl, for outputs that are bound as vectors,
// of four values, or where GATED of two.

//#include "bounds.wgsl"

fn four_bounded(r: u32, v: vec4<f32>) -> vec4<f32> {
//#if BOUNDED
  return vec4<f32>(bounded(r, v.x), bounded(r + 1u, v.y), bounded(r + 2u, v.z), bounded(r + 3u, v.w));
//#else
  return v;
//#end
}

// ended is the value for out's row r of token t.
fn ended(t: u32, r: u32, value: f32) -> f32 {
  var v = value;
  if ((params.flags & MULTIPLIED) != 0u) { v = v * mul[t * params.mul_stride + params.mul_offset + r]; }
  return softcapped(v, params.softcap);
}

// finish_four ends the sums of rows r … r+3 of the matrix.
fn finish_four(t: u32, r: u32, sums: vec4<f32>) {
  let v = four_bounded(r, sums);
  let act = params.act;
  let to = t * params.out_stride + params.out_offset;
//#if GATED
  let o = r / 2u;
  out[(to + o) / 2u] = vec2<f32>(ended(t, o, activate(act, v.x) * v.y), ended(t, o + 1u, activate(act, v.z) * v.w));
//#else
  out[(to + r) / 4u] = vec4<f32>(
    ended(t, r, activate(act, v.x)), ended(t, r + 1u, activate(act, v.y)),
    ended(t, r + 2u, activate(act, v.z)), ended(t, r + 3u, activate(act, v.w)));
//#end
}

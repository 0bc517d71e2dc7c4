// What ends a product for many tokens: bounds or what LOW_RANK adds, flag
// MULTIPLIED, softcap, the place in out.

//#include "bounds.wgsl"
//#if LOW_RANK
//#include "low_rank.wgsl"
//#end

// whole is the sum of the matrix's row r for token t with what belongs to it.
fn whole(t: u32, r: u32, sum: f32) -> f32 {
//#if LOW_RANK
  return sum + low_rank(t, r);
//#else
  return bounded(r, sum);
//#end
}

fn finish(t: u32, r: u32, value: f32) {
  var v = value;
  if ((params.flags & MULTIPLIED) != 0u) { v = v * mul[t * params.mul_stride + params.mul_offset + r]; }
  out[t * params.out_stride + params.out_offset + r] = softcapped(v, params.softcap);
}

// What Q4_K and Q5_K share: the header of a block of 256 values,
//
//    0  d, dmin       float16
//    4  scales 0–3    low six bits of each byte; top two bits of scales 4–7 above them
//    8  lows 0–3      the same for lows
//   12                low four bits of scales 4–7 (low nibbles) and of lows 4–7 (high nibbles)
//
// which gives sub-block j of 32 values: value = (d·scale)·q − dmin·low.

//#include "bytes.wgsl"

struct Affine { scale: vec4<f32>, low: vec4<f32> }

// affine is the numbers of sub-blocks 2·pair and 2·pair + 1; where a unit has four
// spans, they have two of each.
fn affine(header: vec4<u32>, pair: u32) -> Affine {
  let w = header.yzw >> vec3<u32>(16u * (pair & 1u));
  let scales = select((w.z & 0x0f0fu) | ((w.x >> 2u) & 0x3030u), w.x & 0x3f3fu, pair < 2u);
  let lows = select(((w.z >> 4u) & 0x0f0fu) | ((w.y >> 2u) & 0x3030u), w.y & 0x3f3fu, pair < 2u);
  let d = unpack2x16float(header.x);
  let scale = d.x * vec2<f32>(vec2<i32>(i32(scales & 255u), i32(scales >> 8u)));
  let low = -d.y * vec2<f32>(vec2<i32>(i32(lows & 255u), i32(lows >> 8u)));
//#if SPANS == 4
  return of_fields(scale.xxyy, low.xxyy);
//#else
  return of_fields(vec4<f32>(scale, 0.0, 0.0), vec4<f32>(low, 0.0, 0.0));
//#end
}

// of_fields is what makes values of the fields as the unit has them.
fn of_fields(scale: vec4<f32>, low: vec4<f32>) -> Affine {
//#if HALVES
  return Affine(64.0 * scale, low - 64.0 * scale);
//#else
  return Affine(scale, low);
//#end
}

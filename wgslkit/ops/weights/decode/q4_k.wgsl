// Q4_K: blocks of 256 values in one plane of 144 B, as in the file: quant/q4_k.go draws them. A block is nine
// vec4<u32>: the header (affine.wgsl), then the nibbles.

//#include "affine.wgsl"

//#if SPANS == 4
// A unit is two sub-blocks, whole.
struct Packed { header: vec4<u32>, a: vec4<u32>, b: vec4<u32> }

fn packed(row: u32, unit: u32) -> Packed {
  let block = row + unit / 4u * 9u;
  let run = block + 1u + unit % 4u * 2u;
  return Packed(weights[block], weights[run], weights[run + 1u]);
}

fn unpacked(p: Packed, unit: u32) -> Unit {
  let a = affine(p.header, unit % 4u);
  return Unit(array<mat4x4<f32>, 4>(in_low(p.a), in_low(p.b), in_high(p.a), in_high(p.b)), a.scale, a.low);
}
//#else
struct Packed { header: vec4<u32>, qs: vec4<u32> }

fn packed(row: u32, unit: u32) -> Packed {
  let block = row + unit / 8u * 9u;
  return Packed(weights[block], weights[block + 1u + unit % 8u]);
}

fn unpacked(p: Packed, unit: u32) -> Unit {
  let a = affine(p.header, unit % 8u / 2u);
  return Unit(array<mat4x4<f32>, 2>(in_low(p.qs), in_high(p.qs)), a.scale, a.low);
}
//#end

//#if HALVES
fn in_low(v: vec4<u32>) -> mat4x4<f32> { return sixty_fourths(v << splat(4u), v >> splat(4u), 0x00f000f0u); }

fn in_high(v: vec4<u32>) -> mat4x4<f32> { return sixty_fourths(v, v >> splat(8u), 0x00f000f0u); }
//#else
fn in_low(v: vec4<u32>) -> mat4x4<f32> { return sixteen(v & splat(NIBBLES)); }

fn in_high(v: vec4<u32>) -> mat4x4<f32> { return sixteen((v >> splat(4u)) & splat(NIBBLES)); }
//#end

// Q5_K: blocks of 256 values in one plane of 176 B.
//
//    0  16 B   header, see affine.wgsl
//   16  32 B   bit j of byte i: bit 4 of value i of sub-block j
//   48  128 B  nibbles: each run of 32 B has sub-block 2k in the low ones and
//              2k + 1 in the high ones

//#include "affine.wgsl"

//#if SPANS == 4
// A unit is two sub-blocks, whole.
struct Packed { header: vec4<u32>, high_a: vec4<u32>, high_b: vec4<u32>, a: vec4<u32>, b: vec4<u32> }

fn packed(row: u32, unit: u32) -> Packed {
  let block = row + unit / 4u * 11u;
  let run = block + 3u + unit % 4u * 2u;
  return Packed(weights[block], weights[block + 1u], weights[block + 2u], weights[run], weights[run + 1u]);
}

fn unpacked(p: Packed, unit: u32) -> Unit {
  let k = unit % 4u;
  let a = affine(p.header, k);
  let high_a = p.high_a >> splat(2u * k);
  let high_b = p.high_b >> splat(2u * k);
  return Unit(
    array<mat4x4<f32>, 4>(in_low(p.a, high_a), in_low(p.b, high_b), in_high(p.a, high_a), in_high(p.b, high_b)),
    a.scale, a.low);
}
//#else
struct Packed { header: vec4<u32>, high: vec4<u32>, qs: vec4<u32> }

fn packed(row: u32, unit: u32) -> Packed {
  let block = row + unit / 8u * 11u;
  let k = unit % 8u;
  return Packed(weights[block], weights[block + 1u + k % 2u], weights[block + 3u + k]);
}

fn unpacked(p: Packed, unit: u32) -> Unit {
  let k = unit % 8u;
  let a = affine(p.header, k / 2u);
  let high = p.high >> splat(k & 6u);
  return Unit(array<mat4x4<f32>, 2>(in_low(p.qs, high), in_high(p.qs, high)), a.scale, a.low);
}
//#end

const BIT4: u32 = 0x10101010u;

// in_low is the values of the low nibbles, with bit 4 in bit 0 of high's bytes, and
// in_high those of the high ones, with it in bit 1.
fn in_low(v: vec4<u32>, high: vec4<u32>) -> mat4x4<f32> {
  return fields((v & splat(NIBBLES)) | ((high << splat(4u)) & splat(BIT4)));
}

fn in_high(v: vec4<u32>, high: vec4<u32>) -> mat4x4<f32> {
  return fields(((v >> splat(4u)) & splat(NIBBLES)) | ((high << splat(3u)) & splat(BIT4)));
}

fn fields(bytes: vec4<u32>) -> mat4x4<f32> {
//#if HALVES
  return sixty_fourths(bytes << splat(4u), bytes >> splat(4u), 0x01f001f0u);
//#else
  return sixteen(bytes);
//#end
}

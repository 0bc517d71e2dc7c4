// Q6_K: blocks of 256 values.
//
//   plane 0    0  128 B  ql: low four bits
//            128   64 B  qh: bits 4 and 5
//            192   16 B  scales, int8, of sub-blocks of 16
//   plane 1         2 B  d
//
// In each half of 128 values (64 B of ql, 32 B of qh), for i < 32: value i is
// ql[i] low, qh[i] bits 0–1; i + 32: ql[i+32] low, bits 2–3; i + 64: ql[i]
// high, bits 4–5; i + 96: ql[i+32] high, bits 6–7.
//
// value = (d·scale)·(q − 32)

//#include "bytes.wgsl"

struct Packed { a: vec4<u32>, b: vec4<u32>, high: vec4<u32>, scales: vec4<u32>, d: f32 }

fn packed(row: u32, unit: u32) -> Packed {
  let block = row + unit / 4u * 13u;
  let h = unit / 2u % 2u;
  let i = unit % 2u; // which 16 of each 32
  return Packed(
    weights[block + 4u * h + i], weights[block + 4u * h + 2u + i], weights[block + 8u + 2u * h + i],
    weights[block + 12u], half_at(row + params.plane1, unit / 4u));
}

fn unpacked(p: Packed, unit: u32) -> Unit {
  // Span s is sub-block 8h + 2s + i: the bytes i, i + 2, i + 4, i + 6 of eight.
  let pair = select(p.scales.xy, p.scales.zw, unit / 2u % 2u == 1u) >> vec2<u32>(8u * (unit % 2u));
  let scale = p.d * vec4<f32>((vec4<i32>(pair.xxyy) << vec4<u32>(24u, 8u, 24u, 8u)) >> vec4<u32>(24u));
  let low4 = splat(NIBBLES);
  let top2 = splat(0x30303030u);
  return Unit(
    array<mat4x4<f32>, 4>(
      fields((p.a & low4) | ((p.high << splat(4u)) & top2)),
      fields((p.b & low4) | ((p.high << splat(2u)) & top2)),
      fields(((p.a >> splat(4u)) & low4) | (p.high & top2)),
      fields(((p.b >> splat(4u)) & low4) | ((p.high >> splat(2u)) & top2))),
//#if HALVES
    64.0 * scale, -96.0 * scale); // 64·(1 + q/64) − 96 = q − 32
//#else
    scale, -32.0 * scale);
//#end
}

fn fields(bytes: vec4<u32>) -> mat4x4<f32> {
//#if HALVES
  return sixty_fourths(bytes << splat(4u), bytes >> splat(4u), 0x03f003f0u);
//#else
  return sixteen(bytes);
//#end
}

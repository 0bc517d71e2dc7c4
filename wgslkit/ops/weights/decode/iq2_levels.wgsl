// What the types of IQ2 share: levels 8, 25 and 43.

//#include "pairs.wgsl"
//#include "signs.wgsl"

// four_of is the levels that four numbers stand for: 8 + 17·n + ⌊n/2⌋.
fn four_of(pairs: u32) -> u32 {
  let n = spread_pairs(pairs);
  return n * 17u + ((n >> 1u) & 0x01010101u) + 0x08080808u;
}

// two_entries is sixteen values at two places of the codebook, with the lowest sixteen signs.
fn two_entries(first: u32, second: u32, signs: u32) -> mat4x4<f32> {
  let a = entry(first);
  let b = entry(second);
  return signed_levels(vec4<u32>(four_of(a), four_of(a >> 8u), four_of(b), four_of(b >> 8u)), signs);
}

// of_nibbles is the scales of four sub-blocks of 16: d·(scale + ½)·¼.
fn of_nibbles(d: f32, scales: u32) -> vec4<f32> {
  return d * (vec4<f32>((vec4<u32>(scales) >> vec4<u32>(0u, 4u, 8u, 12u)) & vec4<u32>(15u)) + 0.5) * 0.25;
}

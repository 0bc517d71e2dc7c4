// A strip of Q4_K is a run of 64 values, two sub-blocks; quant/q4_k.go and
// quant/affine.go draw the block.
//
// Weights stay where they are in a word: inputs are scaled down instead, by
// powers of two, which is exact and spares a shift for each weight. The top
// nibble holds a sign then: with its highest bit flipped it is q − 8, and
// `offset` makes up for the 8.

//#include "record/halves.wgsl"

const STRIP: u32 = 64u;

const LOW_NIBBLES: vec4<i32> = vec4<i32>(0xf, 0xf00, 0xf0000, 0xf000000);
const HIGH_NIBBLES: vec4<i32> = vec4<i32>(0xf0, 0xf000, 0xf00000, -0x10000000);
const BYTES: vec4<f32> = vec4<f32>(1.0, 1.0 / 256.0, 1.0 / 65536.0, 1.0 / 16777216.0);

var<private> low: array<vec4<f32>, 8>;  // inputs of low nibbles
var<private> high: array<vec4<f32>, 8>; // of high ones
var<private> in_sum: vec2<f32>;         // of each sub-block
var<private> offset: f32;
var<private> block_at: u32;             // words into a row, where the block begins
var<private> weights_at: u32;           // and the strip's weights
// The header's bits of a sub-block's scale and low, and what they count.
var<private> first_bits: vec2<u32>;     // of words y and z: all six, or the top two
var<private> first_unit: vec2<f32>;
var<private> scale_bits: vec2<u32>;     // of word w: the other four
var<private> low_bits: vec2<u32>;
var<private> rest_unit: vec2<f32>;

fn load_strip(at: u32, strip: u32) {
  block_at = strip / 4u * 9u;
  weights_at = block_at + 1u + 2u * (strip % 4u);
  in_sum = vec2<f32>();
  offset = 0.0;
  for (var i = 0u; i < 8u; i++) {
    let a = inputs(at, strip * STRIP + 4u * i);
    let b = inputs(at, strip * STRIP + 4u * i + 32u);
    low[i] = a * BYTES;
    high[i] = b * BYTES * 0.0625;
    in_sum += vec2<f32>(total(a), total(b));
    offset += 8.0 * b.w;
  }
  let shift = vec2<u32>(16u * (strip & 1u), 16u * (strip & 1u) + 8u);
  let unit = 1.0 / vec2<f32>(vec2<u32>(1u) << shift);
  let late = (strip & 2u) != 0u;
  first_bits = select(vec2<u32>(0x3fu), vec2<u32>(0xc0u), late) << shift;
  first_unit = unit * select(1.0, 0.25, late);
  scale_bits = select(vec2<u32>(), vec2<u32>(0xfu), late) << shift;
  low_bits = scale_bits << vec2<u32>(4u);
  rest_unit = unit;
}

fn low_dot(words: vec4<i32>, i: u32) -> f32 {
  return (dot(vec4<f32>(words.xxxx & LOW_NIBBLES), low[i]) + dot(vec4<f32>(words.yyyy & LOW_NIBBLES), low[i + 1u])) +
    (dot(vec4<f32>(words.zzzz & LOW_NIBBLES), low[i + 2u]) + dot(vec4<f32>(words.wwww & LOW_NIBBLES), low[i + 3u]));
}

fn high_dot(words: vec4<i32>, i: u32) -> f32 {
  return (dot(vec4<f32>(words.xxxx & HIGH_NIBBLES), high[i]) +
    dot(vec4<f32>(words.yyyy & HIGH_NIBBLES), high[i + 1u])) +
    (dot(vec4<f32>(words.zzzz & HIGH_NIBBLES), high[i + 2u]) + dot(vec4<f32>(words.wwww & HIGH_NIBBLES), high[i + 3u]));
}

fn strip_dot(row: u32) -> f32 {
  let header = weights[row + block_at];
  let a = vec4<i32>(weights[row + weights_at]) ^ vec4<i32>(-0x80000000);
  let b = vec4<i32>(weights[row + weights_at + 1u]) ^ vec4<i32>(-0x80000000);
  let dots = vec2<f32>(low_dot(a, 0u) + low_dot(b, 4u), offset + (high_dot(a, 0u) + high_dot(b, 4u)));
  let scale = vec2<f32>(header.yy & first_bits) * first_unit + vec2<f32>(vec2<i32>(header.ww & scale_bits)) * rest_unit;
  let lows = vec2<f32>(header.zz & first_bits) * first_unit + vec2<f32>(header.ww & low_bits) * rest_unit * 0.0625;
  return low_half(i32(header.x)) * dot(scale, dots) - high_half(i32(header.x)) * dot(lows, in_sum);
}

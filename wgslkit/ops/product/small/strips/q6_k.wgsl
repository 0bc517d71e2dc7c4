// A strip of Q6_K is the 64 values that decode/q6_k.wgsl decodes at once: 16 of
// each of four runs of 32 (spans).
//
// Weights stay where they are in a word, as in strips/q4_k.wgsl. A span is
// scale·(q − 32); `offset` is −32·Σx, with what makes up for the bits that
// would be signs.

//#include "record/halves.wgsl"

const STRIP: u32 = 64u;

const BYTES: vec4<f32> = vec4<f32>(1.0, 1.0 / 256.0, 1.0 / 65536.0, 1.0 / 16777216.0);
const SIX: vec4<i32> = vec4<i32>(0x3f, 0x3f00, 0x3f0000, 0x3f000000);
const UPPER_FOUR: vec4<i32> = vec4<i32>(0xf0, 0xf000, 0xf00000, -0x10000000);
const THIRD_TWO: vec4<i32> = vec4<i32>(0x30, 0x3000, 0x300000, 0x30000000);
const FOURTH_TWO: vec4<i32> = vec4<i32>(0xc0, 0xc000, 0xc00000, -0x40000000);

var<private> in: array<vec4<f32>, 16>; // four of each span
var<private> offset: vec4<f32>;
var<private> block_at: u32;            // words into a row, where the block begins
var<private> low_at: u32;              // and within the block, the strip's lower bits
var<private> high_at: u32;             // the others
var<private> scales_at: u32;           // components of the last word
var<private> d_at: vec2<u32>;          // in plane 1: word, component
var<private> d_high: bool;
var<private> to_top: vec4<u32>;        // factor that brings a span's scale to the top byte

fn load_strip(at: u32, strip: u32) {
  let half = strip / 2u % 2u;
  block_at = strip / 4u * 13u;
  low_at = block_at + 4u * half + strip % 2u;
  high_at = block_at + 8u + 2u * half + strip % 2u;
  scales_at = 2u * half;
  d_at = vec2<u32>(params.plane1 + strip / 32u, strip / 8u % 4u);
  d_high = strip / 4u % 2u == 1u;
  let column = strip / 2u * 128u + strip % 2u * 16u;
  offset = vec4<f32>();
  for (var i = 0u; i < 16u; i++) {
    let v = inputs(at, column + i / 4u * 32u + i % 4u * 4u);
    in[i] = v * BYTES;
    let signs = select(select(0.0, 8.0, i >= 8u), 40.0, i >= 12u);
    offset[i / 4u] += signs * v.w - 32.0 * total(v);
  }
  to_top = select(vec4<u32>(0x1000000u, 0x100u, 0x1000000u, 0x100u), vec4<u32>(0x10000u, 1u, 0x10000u, 1u),
    strip % 2u == 1u);
}

// six is a span whose six bits of each weight lie in a byte each.
fn six(words: vec4<i32>, i: u32) -> f32 {
  return (dot(vec4<f32>(words.xxxx & SIX), in[i]) + dot(vec4<f32>(words.yyyy & SIX), in[i + 1u])) +
    (dot(vec4<f32>(words.zzzz & SIX), in[i + 2u]) + dot(vec4<f32>(words.wwww & SIX), in[i + 3u]));
}

// split_word is four weights of a span whose lower bits are the upper nibbles
// of `word`, and the other two those of `high` at `bits`, which count `unit`.
fn split_word(word: i32, high: i32, bits: vec4<i32>, unit: f32, x: vec4<f32>) -> f32 {
  return dot(vec4<f32>(vec4<i32>(word) & UPPER_FOUR) * 0.0625 + vec4<f32>(vec4<i32>(high) & bits) * unit, x);
}

fn split(words: vec4<i32>, high: vec4<i32>, bits: vec4<i32>, unit: f32, i: u32) -> f32 {
  return (split_word(words.x, high.x, bits, unit, in[i]) + split_word(words.y, high.y, bits, unit, in[i + 1u])) +
    (split_word(words.z, high.z, bits, unit, in[i + 2u]) + split_word(words.w, high.w, bits, unit, in[i + 3u]));
}

fn strip_dot(row: u32) -> f32 {
  let a = vec4<i32>(weights[row + low_at]);
  let b = vec4<i32>(weights[row + low_at + 2u]);
  let high = vec4<i32>(weights[row + high_at]);
  let flip = vec4<i32>(-0x80000000);
  let four = vec4<i32>(0x0f0f0f0f);
  let two = vec4<i32>(0x30303030);
  let dots = offset + vec4<f32>(
    six((a & four) | ((high * 16) & two), 0u),
    six((b & four) | ((high * 4) & two), 4u),
    split(a ^ flip, high, THIRD_TWO, 1.0, 8u),
    split(b ^ flip, high ^ flip, FOURTH_TWO, 0.25, 12u));
  let scales = vec2<u32>(weights[row + block_at + 12u][scales_at], weights[row + block_at + 12u][scales_at + 1u]);
  let scale = vec4<f32>(vec4<i32>((scales.xxyy * to_top) & vec4<u32>(0xff000000u)));
  let pair = i32(weights[row + d_at.x][d_at.y]);
  return select(low_half(pair), high_half(pair), d_high) * (1.0 / 16777216.0) * dot(scale, dots);
}

// TQ1_0: blocks of 256 values, ternary: a byte holds five digits to base 3 as a fraction of 256.
//
//   plane 0  48 B   bytes 0–31: digit n of byte i is value 32n + i; 32–47: of byte 32 + i value 160 + 16n + i
//   plane 1   4 B   digit n of byte i is value 240 + 4n + i, n < 4
//   plane 2   2 B   d
//
// value = d·(digit − 1)

//#include "bytes.wgsl"

struct Packed { a: vec4<u32>, b: vec4<u32>, c: vec4<u32>, tail: u32, d: f32 }

fn packed(row: u32, unit: u32) -> Packed {
  let block = unit / 4u;
  let at = row + 3u * block;
  return Packed(weights[at], weights[at + 1u], weights[at + 2u], weights[row + params.plane1 + block / 4u][block % 4u],
    half_at(row + params.plane2, block));
}

// digits is one digit of the bytes of four words, power being 3 to its number.
fn digits(words: vec4<u32>, power: u32) -> mat4x4<f32> {
  return mat4x4<f32>(four(digit(words.x, power)), four(digit(words.y, power)), four(digit(words.z, power)),
    four(digit(words.w, power)));
}

// digit is one of each byte: the ones before it leave at the top. Bytes 0 and 2, and 1 and 3, have room to grow.
fn digit(word: u32, power: u32) -> u32 {
  let even = (((word & 0x00ff00ffu) * power) & 0x00ff00ffu) * 3u;
  let odd = ((((word >> 8u) & 0x00ff00ffu) * power) & 0x00ff00ffu) * 3u;
  return ((even >> 8u) & 0x00030003u) | (odd & 0x03000300u);
}

// last is the digits of the four bytes of a word.
fn last(word: u32) -> mat4x4<f32> {
  return mat4x4<f32>(four(digit(word, 1u)), four(digit(word, 3u)), four(digit(word, 9u)), four(digit(word, 27u)));
}

fn unpacked(p: Packed, unit: u32) -> Unit {
  let scale = vec4<f32>(p.d);
  switch (unit % 4u) {
    case 0u: {
      return Unit(array<mat4x4<f32>, 4>(digits(p.a, 1u), digits(p.b, 1u), digits(p.a, 3u), digits(p.b, 3u)), scale,
        -scale);
    }
    case 1u: {
      return Unit(array<mat4x4<f32>, 4>(digits(p.a, 9u), digits(p.b, 9u), digits(p.a, 27u), digits(p.b, 27u)), scale,
        -scale);
    }
    case 2u: {
      return Unit(array<mat4x4<f32>, 4>(digits(p.a, 81u), digits(p.b, 81u), digits(p.c, 1u), digits(p.c, 3u)), scale,
        -scale);
    }
    default: {
      return Unit(array<mat4x4<f32>, 4>(digits(p.c, 9u), digits(p.c, 27u), digits(p.c, 81u), last(p.tail)), scale,
        -scale);
    }
  }
}

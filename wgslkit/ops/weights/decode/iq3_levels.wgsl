// What IQ3_S and IQ3_XXS share: an entry of the codebook is four levels, a byte each.

//#include "signs.wgsl"

// entries is the levels at four places, whose low eight bits are a word's bytes and whose bit 8 is in high.
fn entries(low: u32, high: u32) -> vec4<u32> {
  return vec4<u32>(
    codebook_word((low & 255u) | ((high & 1u) << 8u)), codebook_word(((low >> 8u) & 255u) | ((high & 2u) << 7u)),
    codebook_word(((low >> 16u) & 255u) | ((high & 4u) << 6u)), codebook_word((low >> 24u) | ((high & 8u) << 5u)));
}

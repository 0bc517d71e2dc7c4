// What IQ1 and IQ2 share: an entry of the codebook is eight levels, numbered 0 to 2 by two bits each, in half a word.

// entry is the numbers of the levels at a place.
fn entry(place: u32) -> u32 { return (codebook_word(place / 2u) >> (16u * (place & 1u))) & 0xffffu; }

// spread_pairs is four numbers of two bits as bytes.
fn spread_pairs(pairs: u32) -> u32 {
  let nibbles = (pairs & 15u) | ((pairs & 0xf0u) << 12u);
  return (nibbles | (nibbles << 6u)) & 0x03030303u;
}

// load_key and load_value read column c of a slot, with the scale that it shares
// where the cache is in 8 bits.
//
// The includer has what cell.wgsl asks for, the caches `keys` and `values`, COLUMNS,
// as many cells as a row's values take, and params.slots.

//#include "cell.wgsl"

fn load_key(kv_head: u32, c: u32, slot: u32) -> Loaded {
  let row = kv_head * ROW_CELLS;
//#if CACHE == q8
  return Loaded(keys[(row + c) * params.slots + slot], keys[(row + COLUMNS + c / 16u) * params.slots + slot]);
//#else
  return keys[(row + c) * params.slots + slot];
//#end
}

fn load_value(kv_head: u32, c: u32, slot: u32) -> Loaded {
  let row = (kv_head * params.slots + slot) * ROW_CELLS;
//#if CACHE == q8
  return Loaded(values[row + c], values[row + COLUMNS + c / 16u]);
//#else
  return values[row + c];
//#end
}

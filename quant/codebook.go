package quant

import "math/bits"

// IQ1 to IQ3 store the place of four or eight values in a codebook (grids.go). Here it is spread to one level a
// byte, so that a word is eight values.

// spreadGrid returns the entries with a byte for each value: level l of an entry becomes levels[l]. Entries have
// eight levels of two bits.
func spreadGrid(entries []uint16, levels [4]byte) []uint64 {
	words := make([]uint64, len(entries))
	for i, entry := range entries {
		for k := range 8 {
			words[i] |= uint64(levels[entry>>(2*k)&3]) << (8 * k)
		}
	}
	return words
}

// spreadHalfGrid is spreadGrid for entries of four levels of three bits, which make half a word.
func spreadHalfGrid(entries []uint16, levels [8]byte) []uint32 {
	words := make([]uint32, len(entries))
	for i, entry := range entries {
		for k := range 4 {
			words[i] |= uint32(levels[entry>>(3*k)&7]) << (8 * k)
		}
	}
	return words
}

// evenSigns are the signs of eight values, told by those of the first seven: the eighth makes the number of negative
// ones even.
var evenSigns = func() (table [128]byte) {
	for i := range table {
		table[i] = byte(i | bits.OnesCount(uint(i))&1<<7)
	}
	return table
}()

// negate returns eight levels of 1 to 127 as int8, negative where a bit of signs is set.
func negate(levels uint64, signs byte) uint64 {
	const diagonal = 0x8040201008040201 // bit k of byte k
	each := uint64(signs) * lowBits & diagonal
	ones := (each + (signBits - lowBits)) >> 7 & lowBits // a set bit carries into its byte's top
	return (levels ^ ones*0xff) + ones
}

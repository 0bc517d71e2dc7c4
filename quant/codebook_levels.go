package quant

// Codebook returns the codebook of a type whose blocks hold places in one: IQ1 to IQ3, IQ4_NL and IQ4_XS. An entry is
// `each` neighbouring levels, and value = scale·level, with the sign or the shift that the block has for it. Other
// types have none: levels is nil. The slice is the caller's.
func (t Type) Codebook() (levels []int8, each int) {
	switch t {
	case IQ4_NL, IQ4_XS:
		return append(levels, unevenLevels[:]...), 1
	case IQ3_XXS:
		return spreadLevels(iq3xxsEntries[:], 3, []int8{4, 12, 20, 28, 36, 44, 52, 62}), 4
	case IQ3_S:
		return spreadLevels(iq3sEntries[:], 3, []int8{1, 3, 5, 7, 9, 11, 13, 15}), 4
	case IQ2_XXS:
		return spreadLevels(iq2xxsEntries[:], 2, []int8{8, 25, 43}), 8
	case IQ2_XS:
		return spreadLevels(iq2xsEntries[:], 2, []int8{8, 25, 43}), 8
	case IQ2_S:
		return spreadLevels(iq2sEntries[:], 2, []int8{8, 25, 43}), 8
	case IQ1_S, IQ1_M:
		return spreadLevels(iq1sEntries[:], 2, []int8{-1, 0, 1}), 8
	}
	return nil, 0
}

// spreadLevels returns the levels of all entries, whose fields of so many bits number them.
func spreadLevels(entries []uint16, bits int, levels []int8) []int8 {
	each := map[int]int{2: 8, 3: 4}[bits]
	out := make([]int8, 0, len(entries)*each)
	for _, entry := range entries {
		for k := range each {
			out = append(out, levels[entry>>(bits*k)&(1<<bits-1)])
		}
	}
	return out
}

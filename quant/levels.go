package quant

// Decoding goes in two steps: levels (the small integers of a block) are unpacked eight at a time in a word, one a
// byte, and then scaled. Both loops are plain enough for the core to run several rounds at once.

// Masks for eight levels in a word.
const (
	lowBits   = 0x0101010101010101
	lowPairs  = 0x0303030303030303
	nibbles   = 0x0f0f0f0f0f0f0f0f
	fifthBits = 0x1010101010101010
	signBits  = 0x8080808080808080
)

// signed holds the float32 of every int8, indexed by its byte: loading one is faster than converting.
var signed = func() (table [256]float32) {
	for i := range table {
		table[i] = float32(int8(i))
	}
	return table
}()

// lessEach subtracts n, at most 128, from eight levels below 128 each, giving eight int8.
func lessEach(levels uint64, n byte) uint64 {
	// The sign bits keep a borrow from crossing into the next level.
	return ((levels | signBits) - uint64(n)*lowBits) ^ signBits
}

// spreadToFifth returns eight levels, the one at k being 16 where bit k is set and 0 elsewhere.
func spreadToFifth(bits byte) uint64 {
	const diagonal = 0x8040201008040201 // bit k of byte k
	each := uint64(bits) * lowBits & diagonal
	return (each + (signBits - lowBits)) >> 3 & fifthBits // a set bit carries into its byte's top
}

// scale16 sets y = d·q.
func scale16(y *[16]float32, q *[16]byte, d float32) {
	for i := range 4 {
		y[i] = d * signed[q[i]]
		y[i+4] = d * signed[q[i+4]]
		y[i+8] = d * signed[q[i+8]]
		y[i+12] = d * signed[q[i+12]]
	}
}

// scale32 sets y = d·q.
func scale32(y *[32]float32, q *[32]byte, d float32) {
	for i := range 8 {
		y[i] = d * signed[q[i]]
		y[i+8] = d * signed[q[i+8]]
		y[i+16] = d * signed[q[i+16]]
		y[i+24] = d * signed[q[i+24]]
	}
}

// affine16 sets y = d·q + m, without fusing.
func affine16(y *[16]float32, q *[16]byte, d, m float32) {
	for i := range 4 {
		y[i] = float32(d*signed[q[i]]) + m
		y[i+4] = float32(d*signed[q[i+4]]) + m
		y[i+8] = float32(d*signed[q[i+8]]) + m
		y[i+12] = float32(d*signed[q[i+12]]) + m
	}
}

// affine32 sets y = d·q + m, without fusing.
func affine32(y *[32]float32, q *[32]byte, d, m float32) {
	for i := range 8 {
		y[i] = float32(d*signed[q[i]]) + m
		y[i+8] = float32(d*signed[q[i+8]]) + m
		y[i+16] = float32(d*signed[q[i+16]]) + m
		y[i+24] = float32(d*signed[q[i+24]]) + m
	}
}

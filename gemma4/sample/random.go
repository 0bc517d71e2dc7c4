package sample

// Uniform returns the random number for the token at a position: one of 2²⁴
// evenly spaced numbers from 0 up to, not including, 1. See the package's page.
func Uniform(seed uint64, position uint32) float32 {
	return float32(Hash(seed, position)>>8) / (1 << 24)
}

// Hash mixes a seed and a position into 32 even bits.
func Hash(seed uint64, position uint32) uint32 {
	h := mix(uint32(seed) + 0x9e3779b9)
	h = mix(uint32(seed>>32) + h)
	return mix(position + h)
}

func mix(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x21f0aaad
	x ^= x >> 15
	x *= 0x735a2d97
	x ^= x >> 15
	return x
}

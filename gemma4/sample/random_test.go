package sample

import (
	"math"
	"math/bits"
	"testing"
)

// The numbers themselves are a promise: another twin of the hash must give them.
func TestHashValues(t *testing.T) {
	tests := []struct {
		seed     uint64
		position uint32
		want     uint32
	}{
		{0x0, 0, 0x562ff0a0},
		{0x0, 1, 0x245aa972},
		{0x1, 0, 0x7415b84e},
		{0x2a, 1000, 0xe03c230e},
		{0x100000000, 0, 0x461e794},
		{0x123456789abcdef0, 131071, 0x39d460d4},
		{0xffffffffffffffff, 4294967295, 0xb732cb10},
	}
	for _, tt := range tests {
		if got := Hash(tt.seed, tt.position); got != tt.want {
			t.Errorf("Hash(%#x, %d) = %#08x, wanted %#08x", tt.seed, tt.position, got, tt.want)
		}
	}
}

func TestUniformIsEven(t *testing.T) {
	const n, bins = 1 << 18, 256
	for _, seed := range []uint64{0, 1, 42, 1 << 32, math.MaxUint64} {
		var count [bins]float64
		var sum, serial float64
		previous := 0.5
		for position := range uint32(n) {
			u := float64(Uniform(seed, position))
			if u < 0 || u >= 1 {
				t.Fatalf("Uniform(%d, %d) = %v", seed, position, u)
			}
			count[int(u*bins)]++
			sum += u
			serial += (u - 0.5) * (previous - 0.5)
			previous = u
		}
		var chi2 float64
		for _, c := range count {
			chi2 += (c - n/bins) * (c - n/bins) / (n / bins)
		}
		if chi2 > 255+5*math.Sqrt(2*255) {
			t.Errorf("seed %d: χ² = %.1f over %d bins", seed, chi2, bins)
		}
		if mean := sum / n; math.Abs(mean-0.5) > 5*math.Sqrt(1.0/12/n) {
			t.Errorf("seed %d: mean %v", seed, mean)
		}
		if r := serial / n * 12; math.Abs(r) > 5/math.Sqrt(n) {
			t.Errorf("seed %d: neighbours correlate by %v", seed, r)
		}
	}
}

// Flipping one bit of the seed or position flips half of the result's bits.
func TestHashAvalanche(t *testing.T) {
	const n = 2000
	for bit := range 96 {
		var flipped int
		for i := range uint32(n) {
			seed, position := uint64(i)*0x9e3779b97f4a7c15, i
			s, p := seed, position
			if bit < 64 {
				s ^= 1 << bit
			} else {
				p ^= 1 << (bit - 64)
			}
			flipped += bits.OnesCount32(Hash(seed, position) ^ Hash(s, p))
		}
		if mean := float64(flipped) / n; math.Abs(mean-16) > 1 {
			t.Errorf("bit %d flips %.2f bits on average, wanted 16", bit, mean)
		}
	}
}

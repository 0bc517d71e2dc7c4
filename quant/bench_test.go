package quant_test

import (
	"math/rand/v2"
	"testing"
)

// benchLen is the values of a benchmark: 64 KiB as float32, so that the first or second cache holds them as a
// scratch row would be.
const benchLen = 16 << 10

func BenchmarkDequantize(b *testing.B) {
	for _, typ := range decodable {
		b.Run(typ.String(), func(b *testing.B) {
			size, _ := typ.Size(benchLen)
			src, dst := make([]byte, size), make([]float32, benchLen)
			// Float16 scales of random bits would have NaN and subnormals in them: real blocks have neither.
			if typ.CanQuantize() {
				if err := typ.Quantize(src, normal(benchLen, 0.02)); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				if err := typ.Dequantize(dst, src); err != nil {
					b.Fatal(err)
				}
			}
			reportRate(b)
		})
	}
}

func BenchmarkQuantize(b *testing.B) {
	for _, typ := range decodable {
		if !typ.CanQuantize() {
			continue
		}
		b.Run(typ.String(), func(b *testing.B) {
			size, _ := typ.Size(benchLen)
			dst, src := make([]byte, size), normal(benchLen, 0.02)
			for b.Loop() {
				if err := typ.Quantize(dst, src); err != nil {
					b.Fatal(err)
				}
			}
			reportRate(b)
		})
	}
}

func reportRate(b *testing.B) {
	b.ReportMetric(float64(b.N)*benchLen/1e6/b.Elapsed().Seconds(), "Mvalues/s")
}

// normal returns n normally distributed values, the same at every call.
func normal(n int, deviation float64) []float32 {
	rng := rand.New(rand.NewPCG(1, 2))
	values := make([]float32, n)
	for i := range values {
		values[i] = float32(rng.NormFloat64() * deviation)
	}
	return values
}

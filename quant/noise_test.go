package quant_test

import (
	"errors"
	"io"
	"math"
	"testing"

	"github.com/gemwire/gemwire/quant"
)

func TestNoiseHasTheAskedDeviation(t *testing.T) {
	const n = 1 << 18
	for _, typ := range encodable() {
		t.Run(typ.String(), func(t *testing.T) {
			noise, err := quant.NewNoise(typ, 0.02, 7)
			if err != nil {
				t.Fatal(err)
			}
			size, _ := typ.Size(n)
			blocks := make([]byte, size)
			if _, err := io.ReadFull(noise, blocks); err != nil {
				t.Fatal(err)
			}
			var sum, squares float64
			for _, v := range decode(t, typ, blocks) {
				sum += float64(v)
				squares += float64(v) * float64(v)
			}
			if mean := sum / n; math.Abs(mean) > 0.02/100 {
				t.Errorf("mean %g, want about 0", mean)
			}
			if deviation := math.Sqrt(squares / n); math.Abs(deviation/0.02-1) > 0.015 {
				t.Errorf("deviation %g, want 0.02", deviation)
			}
		})
	}
}

func TestNoiseDependsOnSeedAloneNotOnReadSizes(t *testing.T) {
	read := func(seed uint64, sizes ...int) (all []byte) {
		noise, err := quant.NewNoise(quant.Q6_K, 1, seed)
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range sizes {
			piece := make([]byte, size)
			if n, err := noise.Read(piece); n != size || err != nil {
				t.Fatalf("read %d, %v", n, err)
			}
			all = append(all, piece...)
		}
		return all
	}
	if string(read(1, 2100)) != string(read(1, 0, 1, 209, 210, 500, 1180)) {
		t.Error("bytes depend on how they are read")
	}
	if string(read(1, 2100)) == string(read(2, 2100)) {
		t.Error("another seed gives the same bytes")
	}
}

func TestNoiseErrors(t *testing.T) {
	if _, err := quant.NewNoise(quant.IQ1_S, 1, 0); !errors.Is(err, quant.ErrUnsupported) {
		t.Errorf("IQ1_S: %v", err)
	}
	if _, err := quant.NewNoise(quant.Q8_0, 1e9, 0); !errors.Is(err, quant.ErrRange) {
		t.Errorf("deviation 1e9: %v", err)
	}
}

func BenchmarkNoise(b *testing.B) {
	noise, err := quant.NewNoise(quant.Q4_K, 0.02, 1)
	if err != nil {
		b.Fatal(err)
	}
	buffer := make([]byte, 1<<20)
	b.SetBytes(int64(len(buffer)))
	for b.Loop() {
		if _, err := noise.Read(buffer); err != nil {
			b.Fatal(err)
		}
	}
}

package quant_test

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/quant"
)

var update = flag.Bool("update", false, "write testdata/bits.txt anew")

// Whoever quantizes a model again gets the file of last time, to the bit, on every processor: how good a block is
// leaves room for many. The digests are of what each encoder makes of the same values in three forms, with and without
// weights.
func TestQuantizeKeepsItsBits(t *testing.T) {
	path := filepath.Join("testdata", "bits.txt")
	var got strings.Builder
	for _, typ := range encodable() {
		for _, form := range bitsForms {
			fmt.Fprintf(&got, "%v %s %x\n", typ, form.name, sha256.Sum256(encode(t, typ, form.of(typ))))
		}
	}
	importance := make([]float32, 256)
	for i := range importance {
		importance[i] = float32(1+i%7) / float32(1+i%3)
	}
	for _, typ := range weightable() {
		for _, form := range bitsForms {
			digest := sha256.Sum256(encodeWeighted(t, typ, form.of(typ), importance))
			fmt.Fprintf(&got, "%v weighted, %s %x\n", typ, form.name, digest)
		}
	}
	if *update {
		if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(want), "\n")
	for i, line := range strings.Split(got.String(), "\n") {
		if i >= len(lines) || line != lines[i] {
			t.Errorf("%.40s… is not what it was; where that is meant, run this test with -update", line)
		}
	}
}

var bitsForms = []struct {
	name string
	of   func(typ quant.Type) []float32
}{
	{"as they are", func(quant.Type) []float32 { return bitsValues(1, 0) }},
	{"shifted", func(quant.Type) []float32 { return bitsValues(1, 0.5) }},
	{"large", func(typ quant.Type) []float32 { return bitsValues(mostOf(typ)/4, 0) }},
}

// bitsValues are about normal, with most as the largest they can be, and shift more: sums of whole numbers, which are
// the same everywhere.
func bitsValues(most, shift float32) []float32 {
	const terms, top = 6, 1 << 15
	rng := rand.New(rand.NewPCG(3, 4))
	values := make([]float32, 256*32)
	for i := range values {
		sum := 0
		for range terms {
			sum += rng.IntN(2*top) - top
		}
		values[i] = float32(float32(sum)/(terms*top)*most) + shift
	}
	return values
}

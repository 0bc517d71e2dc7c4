package importance

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/cpu"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/conformance"
)

func open(t *testing.T, name string) (*gguf.File, *arch.Model, *cpu.Model) {
	t.Helper()
	ctx := context.Background()
	file, err := gguf.OpenPath(ctx, conformance.Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	a, err := arch.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	m, err := cpu.New(ctx, a, cpu.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return file, a, m
}

func tokens(n int) []int32 {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32(3 + i*7%90)
	}
	return ids
}

// Every matrix of every layer has seen every token, experts together as many as were chosen. What goes into the first
// layer's query is its normed embedding, computed here as one writes it down.
func TestMeasure(t *testing.T) {
	for _, name := range []string{"moe.gguf", "e2b.gguf"} {
		file, a, model := open(t, name)
		ids := tokens(100)
		m, err := Measure(context.Background(), model, ids, Options{Context: 32, BOS: 2, Dataset: "text"})
		if err != nil {
			t.Fatal(err)
		}
		if m.Chunks != 3 || m.ChunkSize != 32 {
			t.Errorf("%d chunks of %d", m.Chunks, m.ChunkSize)
		}
		c := a.Config
		for _, x := range file.Tensors {
			if !strings.HasPrefix(x.Name, "blk.") || len(x.Dims) < 2 || x.Rows() == 1 {
				continue
			}
			e := m.Entries[x.Name]
			if e == nil {
				layer := 0
				for i := range a.Layers {
					if a.Layers[i].K == x || a.Layers[i].V == x || a.Layers[i].Q == x {
						layer = i
					}
				}
				t.Errorf("%s: %s has no entry (layer %d)", name, x.Name, layer)
				continue
			}
			total := 0
			for _, n := range e.Counts {
				total += int(n)
			}
			want := 96
			if len(x.Dims) > 2 {
				want *= c.ExpertsUsed
			}
			if total != want {
				t.Errorf("%s: %d rows went into %s, wanted %d", name, total, x.Name, want)
			}
		}
		checkFirst(t, a, m.Entries["blk.0.attn_q.weight"].Sums, ids)
	}
}

func checkFirst(t *testing.T, a *arch.Model, got []float32, ids []int32) {
	t.Helper()
	d := a.Config.EmbeddingLength
	norm, row, sums := make([]float32, d), make([]float32, d), make([]float64, d)
	if err := a.Layers[0].AttnNorm.ReadRows(norm, 0, 1); err != nil {
		t.Fatal(err)
	}
	for i := range 96 {
		id := int32(2)
		if i%32 != 0 {
			id = ids[i-1]
		}
		if err := a.TokenEmbd.ReadRows(row, int(id), 1); err != nil {
			t.Fatal(err)
		}
		square := 0.0
		for _, v := range row {
			square += float64(v) * float64(v) * float64(d)
		}
		for j, v := range row {
			rms := math.Sqrt(square/float64(d) + float64(a.Config.Eps))
			x := float64(v) * math.Sqrt(float64(d)) / rms * float64(norm[j])
			sums[j] += x * x
		}
	}
	for j, want := range sums {
		if math.Abs(float64(got[j])-want) > 1e-4*want {
			t.Errorf("column %d has %v, wanted %v", j, got[j], want)
			return
		}
	}
}

func TestMeasureRefuses(t *testing.T) {
	_, _, model := open(t, "f32.gguf")
	_, err := Measure(context.Background(), model, tokens(30), Options{Context: 32, BOS: 2})
	if !errors.Is(err, ErrShort) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Measure(ctx, model, tokens(64), Options{Context: 32, BOS: 2}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

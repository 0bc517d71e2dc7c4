package adapter_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/quant"
)

// A merged model's weights are the model's and what the adapters add; all else is
// as it was.
func TestMerge(t *testing.T) {
	file, err := gguf.OpenPath(t.Context(), "../../testdata/conformance/nano/nano.gguf")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	model, err := arch.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	target := adapter.Target{Layer: 1, Linear: adapter.Down}
	w := target.Linear.Tensor(&model.Layers[1])
	r := rand.New(rand.NewPCG(3, 4))
	p := &adapter.Pair{Rank: 2, In: w.RowLen(), Out: w.Rows(), Scale: 0.5}
	p.A, p.B = normal(r, p.Rank*p.In), normal(r, p.Out*p.Rank)
	a := &adapter.Adapter{Pairs: map[adapter.Target]*adapter.Pair{target: p}}

	f32 := quant.F32
	var b bytes.Buffer
	err = adapter.Merge(t.Context(), &b, file, []adapter.Weighted{{a, 2}, {a, -1}}, adapter.MergeOptions{Type: &f32})
	if err != nil {
		t.Fatal(err)
	}
	merged, err := gguf.Open(t.Context(), gguf.Memory(b.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := arch.Open(merged); err != nil {
		t.Fatal(err)
	}
	if len(merged.Tensors) != len(file.Tensors) {
		t.Fatalf("%d tensors, wanted %d", len(merged.Tensors), len(file.Tensors))
	}
	for i, was := range file.Tensors {
		is := merged.Tensors[i]
		if was.Name != w.Name && (is.Type != was.Type || !bytes.Equal(raw(t, is), raw(t, was))) {
			t.Errorf("%s is another", was.Name)
		}
	}
	is, _ := merged.Tensor(w.Name)
	got, want := values(t, is), values(t, w)
	for o := range p.Out {
		for i := range p.In {
			for k := range p.Rank {
				want[o*p.In+i] += p.Scale * p.B[o*p.Rank+k] * p.A[k*p.In+i]
			}
			if d := math.Abs(float64(got[o*p.In+i] - want[o*p.In+i])); d > 1e-5 {
				t.Fatalf("[%d, %d] is %v, wanted %v", o, i, got[o*p.In+i], want[o*p.In+i])
			}
		}
	}
	other := random(4)
	if err := adapter.Merge(t.Context(), &b, file, []adapter.Weighted{{other, 1}},
		adapter.MergeOptions{}); !errors.Is(err, adapter.ErrTarget) {
		t.Errorf("an adapter of another model: %v", err)
	}
}

func raw(t *testing.T, tensor *gguf.Tensor) []byte {
	t.Helper()
	data := make([]byte, tensor.Size)
	if _, err := tensor.ReadAt(data, 0); err != nil {
		t.Fatal(err)
	}
	return data
}

func values(t *testing.T, tensor *gguf.Tensor) []float32 {
	t.Helper()
	v := make([]float32, tensor.Elements())
	if err := tensor.ReadRows(v, 0, tensor.Rows()); err != nil {
		t.Fatal(err)
	}
	return v
}

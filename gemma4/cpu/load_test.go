package cpu

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf"
)

// failing is a file that breaks when told to.
type failing struct {
	gguf.Source
	broken atomic.Bool
}

var errBroken = errors.New("the disk is gone")

func (f *failing) ReadAt(p []byte, off int64) (int, error) {
	if f.broken.Load() {
		return 0, errBroken
	}
	return f.Source.ReadAt(p, off)
}

func TestReadErrors(t *testing.T) {
	data, err := os.ReadFile(findCase(t, "e2b").model)
	if err != nil {
		t.Fatal(err)
	}
	source := &failing{Source: gguf.Memory(data)}
	ctx := context.Background()
	file, err := gguf.Open(ctx, source)
	if err != nil {
		t.Fatal(err)
	}
	resolved, err := arch.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(ctx, resolved, Options{WeightBudget: -1, Threads: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	inputs := promptOf(t, "e2b", 20)
	cache := newCache(t, m)
	forward(t, m, cache, inputs[:10], Want{})

	source.broken.Store(true)
	if _, err := m.Forward(ctx, cache, inputs[10:], Want{}); !errors.Is(err, errBroken) {
		t.Errorf("Forward: got %v, wanted the source's error", err)
	}
	if _, err := New(ctx, resolved, Options{}); !errors.Is(err, errBroken) {
		t.Errorf("New: got %v, wanted the source's error", err)
	}
	source.broken.Store(false)
	equalLogits(t, "after the source came back", forward(t, m, cache, inputs[10:], Want{}), fresh(t, m, inputs))
}

func TestLoading(t *testing.T) {
	file, err := gguf.OpenPath(context.Background(), findCase(t, "f32").model)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	resolved, err := arch.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	var last, total int64
	m, err := New(context.Background(), resolved, Options{Progress: func(done, of int64) {
		if done <= last {
			t.Errorf("progress went from %d to %d", last, done)
		}
		last, total = done, of
	}})
	if err != nil {
		t.Fatal(err)
	}
	m.Close()
	if last == 0 || last != total {
		t.Errorf("progress ended at %d of %d", last, total)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := New(ctx, resolved, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, wanted context.Canceled", err)
	}
	for _, o := range []Options{{Threads: -1}, {Batch: -1}} {
		if _, err := New(context.Background(), resolved, o); !errors.Is(err, ErrInput) {
			t.Errorf("%+v: got %v, wanted ErrInput", o, err)
		}
	}
}

// The same weights in the other forms that files have: gate and up of the experts
// apart, and the output projection as a tensor of its own.
func TestOtherForms(t *testing.T) {
	c := findCase(t, "moe")
	file, err := gguf.OpenPath(context.Background(), c.model)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	path := t.TempDir() + "/apart.gguf"
	if err := os.WriteFile(path, takenApart(t, file), 0o600); err != nil {
		t.Fatal(err)
	}
	joined, apart := openModel(t, c.model, Options{}), openModel(t, path, Options{})
	if apart.layers[0].moe.gate.matrix == apart.layers[0].moe.up.matrix || apart.tokenEmbd == apart.output {
		t.Fatal("the rewritten file should have gate, up and output of their own")
	}
	inputs := promptOf(t, "moe", 20)
	equalLogits(t, "taken apart", fresh(t, apart, inputs), fresh(t, joined, inputs))
}

func takenApart(t *testing.T, file *gguf.File) []byte {
	t.Helper()
	type part struct {
		info gguf.TensorInfo
		data []byte
	}
	var parts []part
	for _, tensor := range file.Tensors {
		data := make([]byte, tensor.Size)
		if _, err := tensor.ReadAt(data, 0); err != nil {
			t.Fatal(err)
		}
		info := gguf.TensorInfo{Name: tensor.Name, Type: tensor.Type, Dims: tensor.Dims}
		gate, isExperts := strings.CutSuffix(tensor.Name, "ffn_gate_up_exps.weight")
		if !isExperts {
			parts = append(parts, part{info, data})
		} else {
			info.Dims = []uint64{tensor.Dims[0], tensor.Dims[1] / 2, tensor.Dims[2]}
			halves := [2]part{{info: info}, {info: info}}
			halves[0].info.Name, halves[1].info.Name = gate+"ffn_gate_exps.weight", gate+"ffn_up_exps.weight"
			half := len(data) / int(2*tensor.Dims[2])
			for i := 0; len(data) > 0; i++ {
				halves[i%2].data = append(halves[i%2].data, data[:half]...)
				data = data[half:]
			}
			parts = append(parts, halves[0], halves[1])
		}
		if tensor.Name == "token_embd.weight" {
			info.Name = "output.weight"
			parts = append(parts, part{info, data})
		}
	}
	var out bytes.Buffer
	w := gguf.NewWriter(&out)
	if err := w.SetAll(file.Meta); err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		if err := w.Add(p.info); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range parts {
		if err := w.WriteTensor(p.info.Name, p.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

package gemma4_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/wgslkit"
)

func TestProfile(t *testing.T) {
	m := open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceGPU, Context: 256})
	s := newSession(t, m, 0)
	ctx := context.Background()
	if _, err := s.Profile(ctx); !errors.Is(err, gemma4.ErrUnsupported) {
		t.Errorf("a profile without text: %v", err)
	}
	prompt := []int32{2, 700, 41, 30, 20}
	first := greedy(t, s, prompt, 6)
	times, err := s.Profile(ctx)
	if err != nil {
		t.Fatal(err)
	}
	dispatches := 0
	for _, k := range times {
		dispatches += k.Dispatches
		if k.Time < 0 || k.Kernel == "" {
			t.Errorf("%+v", k)
		}
	}
	if dispatches == 0 || dispatches > s.Dispatches() {
		t.Errorf("%d dispatches profiled, a step has %d", dispatches, s.Dispatches())
	}
	if again := greedy(t, s, prompt, 6); !slices.Equal(first, again) {
		t.Errorf("after a profile %v, before it %v", again, first)
	}
}

func TestProfileOnTheCPU(t *testing.T) {
	m := open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceCPU, Context: 64})
	s := newSession(t, m, 0)
	if _, err := s.Profile(context.Background()); !errors.Is(err, gemma4.ErrUnsupported) {
		t.Errorf("Profile: %v", err)
	}
	if m.GPUMemory() != nil || s.Dispatches() != 0 {
		t.Error("the CPU has GPU memory or dispatches")
	}
}

// TestBytesPerToken counts the built-in model's tensors: all but the table of
// per-layer embeddings, of which one row is read.
func TestBytesPerToken(t *testing.T) {
	m := open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceCPU, Context: 64})
	source, err := gguf.OpenFile(nanoPath)
	if err != nil {
		t.Fatal(err)
	}
	file, err := gguf.Open(context.Background(), source)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var want int64
	for _, tensor := range file.Tensors {
		switch {
		case strings.HasPrefix(tensor.Name, "v.") || strings.HasPrefix(tensor.Name, "a.") ||
			strings.HasPrefix(tensor.Name, "mm."):
		case tensor.Name == "per_layer_token_embd.weight":
			want += tensor.Size / int64(tensor.Rows())
		default:
			want += tensor.Size
		}
	}
	if got := m.BytesPerToken(); got != want {
		t.Errorf("%d bytes a token, wanted %d", got, want)
	}
}

// TestOpenRefusesBrokenKernels opens a model on a GPU that is known to compute
// a kernel wrongly.
func TestOpenRefusesBrokenKernels(t *testing.T) {
	source, err := gguf.OpenFile(nanoPath)
	if err != nil {
		t.Fatal(err)
	}
	avoid := func(wgslkit.Info) wgslkit.Avoid {
		return wgslkit.Avoid{Kernels: []string{"no such kernel", "store_kv.wgsl", "store_kv_small.wgsl"}}
	}
	_, err = gemma4.Open(context.Background(), source, gemma4.OpenOptions{
		Device: gemma4.DeviceGPU, Context: 64, GPU: wgslkit.Options{Avoid: avoid},
	})
	if errors.Is(err, wgslkit.ErrNoDevice) {
		t.Skip("no GPU: ", err)
	}
	if !errors.Is(err, wgslkit.ErrBrokenKernel) || !strings.Contains(err.Error(), "CPU") {
		t.Errorf("Open: %v", err)
	}
}

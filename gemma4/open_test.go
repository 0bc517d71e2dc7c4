package gemma4_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/wgslkit"
)

// nanoPath is the built-in model's file; its module is not imported here, so
// that this one does not depend on it.
const nanoPath = "../testdata/conformance/nano/nano.gguf"

// onEachDevice runs a test on the CPU and, where there is one, on the GPU.
func onEachDevice(t *testing.T, test func(t *testing.T, opts gemma4.OpenOptions)) {
	for _, device := range []gemma4.Device{gemma4.DeviceCPU, gemma4.DeviceGPU} {
		t.Run(string(device), func(t *testing.T) { test(t, gemma4.OpenOptions{Device: device, Context: 1024}) })
	}
}

// mostlyOnTheCPU runs a test on the CPU and, in make test-all, on the GPU, too: it is about what both share.
func mostlyOnTheCPU(t *testing.T, test func(t *testing.T, opts gemma4.OpenOptions)) {
	for _, device := range conformance.Some(1, gemma4.DeviceCPU, gemma4.DeviceGPU) {
		t.Run(string(device), func(t *testing.T) { test(t, gemma4.OpenOptions{Device: device, Context: 1024}) })
	}
}

func open(t testing.TB, path string, opts gemma4.OpenOptions) *gemma4.Model {
	t.Helper()
	source, err := gguf.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m, err := gemma4.Open(context.Background(), source, opts)
	if errors.Is(err, wgslkit.ErrNoDevice) {
		t.Skip("no GPU: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	// Close fails where a buffer or program was left on the device.
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func newSession(t testing.TB, m *gemma4.Model, n int) *gemma4.Session {
	t.Helper()
	s, err := m.NewSession(n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil && !errors.Is(err, gemma4.ErrClosed) {
			t.Error(err)
		}
	})
	return s
}

func TestOpenRefuses(t *testing.T) {
	nano, err := os.ReadFile(nanoPath)
	if err != nil {
		t.Fatal(err)
	}
	withoutTokens := bytes.Replace(nano, []byte("tokenizer.ggml.tokens"), []byte("tokenizer.ggml.others"), 1)
	for _, tc := range []struct {
		name string
		file []byte
		opts gemma4.OpenOptions
		says string
	}{
		{"not a GGUF", []byte("hello, this is no model"), gemma4.OpenOptions{}, "GGUF"},
		{"cut off", nano[:len(nano)/2], gemma4.OpenOptions{}, "beyond"},
		{"a context too long", nano, gemma4.OpenOptions{Context: 1 << 30}, "this model takes 1 to"},
		{"no tokens", withoutTokens, gemma4.OpenOptions{}, "tokenizer.ggml.tokens"},
		{"no tokens, on the CPU", withoutTokens, gemma4.OpenOptions{Device: gemma4.DeviceCPU}, "tokenizer.ggml.tokens"},
		{"an unknown device", nano, gemma4.OpenOptions{Device: "tpu"}, "say gpu or cpu"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, err := gemma4.Open(context.Background(), gguf.Memory(tc.file), tc.opts)
			if err == nil {
				t.Fatal("it opened", m.Close())
			}
			if !strings.Contains(err.Error(), tc.says) {
				t.Errorf("got %q, want something that says %q", err, tc.says)
			}
		})
	}
}

func TestBudgetsAreKeptOrRefused(t *testing.T) {
	whole := open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceGPU, Context: 256}).Info().Plan
	if whole.Rows != 0 {
		t.Fatalf("without a budget, %d bytes stay in the file", whole.Rows)
	}
	source, err := gguf.OpenFile(nanoPath)
	if err != nil {
		t.Fatal(err)
	}
	_, err = gemma4.Open(context.Background(), source,
		gemma4.OpenOptions{Device: gemma4.DeviceGPU, GPU: wgslkit.Options{MemoryBudget: 1 << 20}})
	if !errors.Is(err, gemma4.ErrDoesNotFit) {
		t.Errorf("a budget of 1 MB gave %v", err)
	}
}

// With less memory than the whole model takes, tables that are only looked up
// stay in the file, and the answers are the same.
func TestRowByRowAnswersTheSame(t *testing.T) {
	cases := readNanoCases(t)[:3]
	whole := open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceGPU, Context: 512})
	plan := whole.Info().Plan
	tight := open(t, nanoPath, gemma4.OpenOptions{
		Device: gemma4.DeviceGPU, Context: 512, GPU: wgslkit.Options{MemoryBudget: plan.Total() - 100_000},
	})
	if tight.Info().Plan.Rows == 0 {
		t.Fatal("no table stays in the file")
	}
	s := newSession(t, tight, 0)
	for _, c := range cases {
		if got := greedy(t, s, c.IDs, len(c.Greedy)); !equal(got, c.Greedy) {
			t.Errorf("%q gave %v, want %v", c.Prompt, got, c.Greedy)
		}
	}
}

// Every matrix in several tiles: the answers are the same.
func TestTiledAnswersTheSame(t *testing.T) {
	m := open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceGPU, Context: 256,
		GPU: wgslkit.Options{MaxBindingSize: 300_000}})
	tiles := 0
	for _, e := range m.Info().Plan.Entries {
		tiles = max(tiles, e.Tiles)
	}
	if tiles < 2 {
		t.Fatal("nothing is tiled")
	}
	s := newSession(t, m, 0)
	for _, c := range readNanoCases(t)[2:5] {
		if got := greedy(t, s, c.IDs, len(c.Greedy)); !equal(got, c.Greedy) {
			t.Errorf("%q gave %v, want %v", c.Prompt, got, c.Greedy)
		}
	}
}

// Where nothing is said and a software rasterizer is all there is, the CPU
// computes, and the model says why.
func TestAutoPrefersTheCPUToARasterizer(t *testing.T) {
	dev, err := wgslkit.Open(wgslkit.Options{})
	if errors.Is(err, wgslkit.ErrNoDevice) {
		t.Skip("no GPU: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	kind := dev.Info().Kind
	if err := dev.Close(); err != nil {
		t.Fatal(err)
	}
	info := open(t, nanoPath, gemma4.OpenOptions{Context: 64}).Info()
	wantCPU := kind == wgslkit.CPU && os.Getenv("GEMWIRE_ADAPTER") == ""
	if (info.Device == gemma4.DeviceCPU) != wantCPU || (info.Fallback != "") != wantCPU {
		t.Errorf("on a %s it took the %s, saying %q", kind, info.Device, info.Fallback)
	}
}

package gemma4_test

import (
	"context"
	"os"
	"runtime"
	"syscall/js"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gguf"
)

// jsFile is a file that JavaScript holds, as gguf.OpenJS takes it.
func jsFile(t *testing.T, path string) (js.Value, int) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	array := js.Global().Get("Uint8Array").New(len(raw))
	js.CopyBytesToJS(array, raw)
	object := js.Global().Call("eval", "(bytes) => ({ size: bytes.length, read: async (at, n) => bytes.subarray(at, "+
		"at + n) })")
	return object.Invoke(array), len(raw)
}

// Weights go from JavaScript's memory to the GPU; what Go allocates is for the
// header, the vocabulary and the recordings.
func TestLoadingFromJavaScriptAllocatesLittle(t *testing.T) {
	object, size := jsFile(t, "../testdata/conformance/nano/nano.gguf")
	source, err := gguf.OpenJS(object)
	if err != nil {
		t.Fatal(err)
	}
	var header, loaded, before runtime.MemStats
	runtime.ReadMemStats(&before)
	m, err := gemma4.Open(context.Background(), source, gemma4.OpenOptions{
		Device: gemma4.DeviceGPU,
		Progress: func(p gemma4.Progress) {
			if p.Phase == gemma4.PhaseWeights && header.TotalAlloc == 0 {
				runtime.ReadMemStats(&header)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&loaded)
	t.Logf("%d bytes: header %d, weights %d, heap %d, from the system %d", size,
		header.TotalAlloc-before.TotalAlloc, loaded.TotalAlloc-header.TotalAlloc, loaded.HeapAlloc, loaded.Sys)
	if taken := loaded.TotalAlloc - header.TotalAlloc; taken > uint64(size)/2 {
		t.Errorf("loading the weights of a file of %d bytes allocated %d bytes in Go", size, taken)
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

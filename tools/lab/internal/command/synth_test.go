package command

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gguf"
)

func TestSynth(t *testing.T) {
	here := t.TempDir()
	model := filepath.Join(here, "small.gguf")
	m := lab(t, "synth", "--shape", "nano", "--layers", "3", "--seed", "9", "-o", model, "--json")
	var told struct {
		File          string
		Layers, Bytes int64
		Types         map[string]struct{ Tensors int }
	}
	if err := json.Unmarshal([]byte(m.out), &told); m.code != 0 || err != nil {
		t.Fatalf("%+v, %v", m, err)
	}
	info, err := os.Stat(model)
	if err != nil || told.File != model || told.Layers != 3 || told.Bytes > info.Size() ||
		told.Types["Q4_K"].Tensors == 0 {
		t.Errorf("%+v of %v, %v", told, info, err)
	}
	streamed := lab(t, "synth", "--shape", "nano", "--layers", "3", "--seed", "9", "-o", "-")
	if raw, err := os.ReadFile(model); err != nil || streamed.out != string(raw) {
		t.Errorf("standard output and the file differ, %v", err)
	}
	if !strings.Contains(streamed.err, "3 layers") {
		t.Errorf("says %q", streamed.err)
	}
	for i, v := range logitsOf(t, model, 2, 3, 4) {
		if math.IsNaN(float64(v)) || math.Abs(float64(v)) > 30 {
			t.Fatalf("logit %d is %v", i, v)
		}
	}
}

// logitsOf computes a model's logits behind tokens on the CPU.
func logitsOf(t *testing.T, file string, ids ...int32) []float32 {
	t.Helper()
	source, err := gguf.OpenFile(file)
	if err != nil {
		t.Fatal(err)
	}
	model, err := gemma4.Open(t.Context(), source, gemma4.OpenOptions{Device: gemma4.DeviceCPU})
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	session, err := model.NewSession(0)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	var last []float32
	err = session.Logits(t.Context(), gemma4.Tokens(ids), func(_ int, row []float32) error {
		last = slices.Clone(row)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return last
}

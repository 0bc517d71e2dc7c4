// Package lora reads the conformance cases of training, for the tests of whatever
// trains: what PyTorch made of an adapter on e2b, and of one on gemma3.
package lora

import (
	"encoding/json"
	"github.com/gemwire/gemwire/gemma4/arch"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/gguf/safetensors"
)

// The cases: an adapter on e2b, and one on gemma3.
const (
	OnE2B    = "lora"
	OnGemma3 = "gemma3-lora"
)

var models = map[string]string{OnE2B: "e2b.gguf", OnGemma3: "gemma3.gguf"}

// Case is NAME.json.
type Case struct {
	Model    string `json:"-"` // the path of its file
	Examples []struct {
		IDs         []int32 `json:"ids"`
		FirstTarget int     `json:"first_target"`
	} `json:"examples"`
	Alpha     float32 `json:"alpha"`
	Loss      float64 `json:"loss"`
	Targets   int     `json:"targets"`
	PromptIDs []int32 `json:"prompt_ids"`
	Run       struct {
		Losses    []float64 `json:"losses"`
		GradNorms []float64 `json:"grad_norms"`
	} `json:"run"`
}

// Open reads the case and its arrays: the repository's, or that of the folder with
// further cases, where it has one.
func Open(t testing.TB, name string) (*Case, *safetensors.File) {
	t.Helper()
	var folder string
	for _, f := range conformance.Folders(t) {
		if _, err := os.Stat(filepath.Join(f, name+".json")); err == nil {
			folder = f
		}
	}
	data, err := os.ReadFile(filepath.Join(folder, name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	c := &Case{Model: filepath.Join(folder, models[name])}
	if err := json.Unmarshal(data, c); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(filepath.Join(folder, name+".safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	file, err := safetensors.Read(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	return c, file
}

// Batch is both examples; the newline behind a turn is no target.
func (c *Case) Batch(t testing.TB) *tape.Batch {
	t.Helper()
	var examples []tape.Example
	for _, e := range c.Examples {
		x := tape.Example{Tokens: make([]tape.Token, len(e.IDs)), Targets: make([]int32, len(e.IDs))}
		for i := range x.Targets {
			x.Tokens[i].ID, x.Targets[i] = e.IDs[i], tape.NoTarget
			if next := i + 1; next >= e.FirstTarget && next+1 < len(e.IDs) {
				x.Targets[i] = e.IDs[next]
			}
		}
		examples = append(examples, x)
	}
	b, err := tape.NewBatch(examples, arch.CausalImages)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// ReadPairs reads the pairs of a reference file whose names begin with a prefix.
func ReadPairs(t testing.TB, file *safetensors.File, prefix string, alpha float32) map[adapter.Target]*adapter.Pair {
	t.Helper()
	pairs := map[adapter.Target]*adapter.Pair{}
	for _, tensor := range file.Tensors {
		if !strings.HasPrefix(tensor.Name, prefix+".") {
			continue
		}
		target, half, ok := adapter.ParsePEFTName(tensor.Name)
		if !ok {
			t.Fatalf("%s: not a name of PEFT's", tensor.Name)
		}
		values, err := tensor.Floats()
		if err != nil {
			t.Fatal(err)
		}
		if pairs[target] == nil {
			pairs[target] = new(adapter.Pair)
		}
		p := pairs[target]
		if half == adapter.A {
			p.A, p.Rank, p.In = values, int(tensor.Shape[0]), int(tensor.Shape[1])
			p.Scale = alpha / float32(p.Rank)
		} else {
			p.B, p.Out = values, int(tensor.Shape[0])
		}
	}
	return pairs
}

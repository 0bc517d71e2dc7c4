package gpu

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/gemma4/internal/enginetest"
	"github.com/gemwire/gemwire/gguf/safetensors"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

const conformancePath = "../../testdata/conformance/"

// newEngine loads a model for a test.
func newEngine(t *testing.T, path string, context int) (*Engine, *arch.Model) {
	t.Helper()
	device, err := wgslkit.Open(wgslkit.Options{})
	if errors.Is(err, wgslkit.ErrNoDevice) {
		t.Skip("no GPU: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	m := enginetest.OpenModel(t, path)
	e, err := NewEngine(t.Context(), ops.New(device), m, engine.Options{Context: context})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e, m
}

func TestAssistantOnGPU(t *testing.T) {
	raw, err := os.ReadFile(conformancePath + "assistant/reference.safetensors")
	if err != nil {
		t.Fatal(err)
	}
	references, err := safetensors.Read(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	if raw, err = os.ReadFile(conformancePath + "assistant/prompts.json"); err != nil {
		t.Fatal(err)
	}
	var cases struct{ Prompts []struct{ IDs []int32 } }
	if err := json.Unmarshal(raw, &cases); err != nil {
		t.Fatal(err)
	}
	for name, clusters := range map[string]bool{"full": false, "few": true} {
		t.Run(name, func(t *testing.T) {
			e, m := newEngine(t, conformancePath+"e2b.gguf", enginetest.Context)
			enginetest.AttachAssistant(t, e, m, conformancePath, clusters)
			if got := e.Plan().Assistant; got < 200_000 || got > 600_000 {
				t.Errorf("the plan counts %d bytes for the assistant", got)
			}
			for n, p := range cases.Prompts {
				compareDrafts(t, e, p.IDs, references, fmt.Sprintf("%d.%s", n, name))
			}
			if clusters {
				enginetest.DraftsAgree(t, e, int32(m.Config.Vocab))
			}
		})
	}
}

// compareDrafts drafts 1, 2, … tokens behind a prompt and compares what the last
// step of each draft leaves with the reference's.
func compareDrafts(t *testing.T, e *Engine, ids []int32, references *safetensors.File, name string) {
	t.Helper()
	read := func(name string) []float32 {
		values, err := references.Floats(name)
		if err != nil {
			t.Fatal(err)
		}
		return values
	}
	assisted, _ := enginetest.Assisted(t, e, ids)
	ctx, s := context.Background(), assisted.(*state)
	wide, vocab := e.model.Config.EmbeddingLength, e.model.Config.Vocab
	logits, hiddens := read(name+".logits"), read(name+".hidden")
	var want []int32
	for i := range len(hiddens) / wide {
		row := logits[i*vocab : (i+1)*vocab]
		want = append(want, int32(slices.Index(row, slices.Max(row))))
		got, err := s.Draft(ctx, i+1)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: drafted %v, want %v", name, got, want)
		}
		both, err := s.drafter.both.ReadFloats(2 * wide)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			hidden, err := s.drafter.hidden.ReadFloats(wide)
			if err != nil {
				t.Fatal(err)
			}
			closeEnough(t, name+": the model's hidden state", hidden, read(name[:1]+".hidden"))
		}
		closeEnough(t, fmt.Sprintf("%s: hidden state of step %d", name, i), both[wide:], hiddens[i*wide:(i+1)*wide])
		if s.engine.assistant.model.Clusters == nil {
			got, err := s.drafter.act.logits.ReadFloats(vocab)
			if err != nil {
				t.Fatal(err)
			}
			closeEnough(t, fmt.Sprintf("%s: logits of step %d", name, i), got, row)
		}
	}
}

// closeEnough allows for keys and values in f16.
func closeEnough(t *testing.T, what string, got, want []float32) {
	t.Helper()
	var difference, norm float64
	for i, w := range want {
		d := float64(got[i]) - float64(w)
		difference += d * d
		norm += float64(w) * float64(w)
	}
	e := math.Sqrt(difference / norm)
	t.Logf("%s: relative L2 error %.2e", what, e)
	if !(e <= 2e-3) {
		t.Errorf("%s: relative L2 error %.2e", what, e)
	}
}

package cpu

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/conformance"
)

// assistantCase is testdata/conformance/assistant, whose target is the case e2b.
type assistantCase struct {
	target     *Model
	file       *gguf.File
	model      *arch.Model
	references references
	prompts    []struct {
		IDs   []int32
		Token int32
	}
}

func openAssistantCase(t *testing.T) assistantCase {
	t.Helper()
	open := func(path string) *gguf.File {
		file, err := gguf.OpenPath(context.Background(), conformance.Path(t, path))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { file.Close() })
		return file
	}
	model, err := arch.Open(open("e2b.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	target, err := New(context.Background(), model, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(target.Close)
	c := assistantCase{target: target, model: model, file: open("assistant/assistant.gguf")}
	c.references = openReferences(t, conformance.Path(t, "assistant/reference.safetensors"))
	var prompts struct {
		Prompts []struct {
			IDs   []int32 `json:"ids"`
			Token int32   `json:"token"`
		} `json:"prompts"`
	}
	readJSON(t, conformance.Path(t, "assistant/prompts.json"), &prompts)
	for _, p := range prompts.Prompts {
		c.prompts = append(c.prompts, struct {
			IDs   []int32
			Token int32
		}{p.IDs, p.Token})
	}
	return c
}

func (c assistantCase) assistant(t *testing.T, clusters bool) *Assistant {
	t.Helper()
	a, err := arch.OpenAssistant(c.file, c.model)
	if err != nil {
		t.Fatal(err)
	}
	if !clusters {
		a.Clusters = nil
	}
	x, err := NewAssistant(context.Background(), c.target, a, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestAssistantConformance(t *testing.T) {
	c := openAssistantCase(t)
	for name, clusters := range map[string]bool{"full": false, "few": true} {
		t.Run(name, func(t *testing.T) {
			x := c.assistant(t, clusters)
			for n, p := range c.prompts {
				cache, hidden := newCache(t, c.target), []float32(nil)
				forward(t, c.target, cache, Tokens(p.IDs),
					Want{Normed: func(_ int, h []float32) { hidden = slices.Clone(h) }})
				closeTo(t, fmt.Sprintf("prompt %d, target's hidden", n), hidden,
					c.references.read(t, fmt.Sprintf("%d.hidden", n)))
				c.follow(t, x, cache, fmt.Sprintf("%d.%s", n, name), p.Token, hidden)
			}
		})
	}
}

// follow compares a chain of steps with the reference's.
func (c assistantCase) follow(t *testing.T, x *Assistant, cache *Cache, name string, token int32, hidden []float32) {
	t.Helper()
	logits, hiddens := c.references.read(t, name+".logits"), c.references.read(t, name+".hidden")
	vocab, d := c.target.config.Vocab, c.target.config.EmbeddingLength
	for i := range len(hiddens) / d {
		step, err := x.Step(context.Background(), cache, token, hidden)
		if err != nil {
			t.Fatal(err)
		}
		got, want := everyLogit(step, vocab), logits[i*vocab:(i+1)*vocab]
		closeTo(t, fmt.Sprintf("%s, logits of step %d", name, i), got, want)
		closeTo(t, fmt.Sprintf("%s, hidden of step %d", name, i), step.Hidden, hiddens[i*d:(i+1)*d])
		if best := slices.Index(want, slices.Max(want)); int(step.Token) != best {
			t.Errorf("%s, step %d: token %d, wanted %d", name, i, step.Token, best)
		}
		token, hidden = step.Token, step.Hidden
	}
}

// everyLogit gives tokens that have no logit the least of the others' less one, as
// the reference does.
func everyLogit(s DraftStep, vocab int) []float32 {
	if s.Tokens == nil {
		return s.Logits
	}
	logits := slices.Repeat([]float32{slices.Min(s.Logits) - 1}, vocab)
	for i, t := range s.Tokens {
		logits[t] = s.Logits[i]
	}
	return logits
}

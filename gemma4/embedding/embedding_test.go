package embedding_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/embedding"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/gguf/safetensors"
)

// tolerance is the relative error that the CPU path may have.
const tolerance = 1e-5

// reference is what the reference implementation made of some texts.
type reference struct {
	Texts []struct {
		Text string  `json:"text"`
		IDs  []int32 `json:"ids"`
	} `json:"texts"`
	file *safetensors.File
}

func readReference(t *testing.T) reference {
	t.Helper()
	raw, err := os.ReadFile(conformance.Path(t, "embedding.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r reference
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(conformance.Path(t, "embedding.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if r.file, err = safetensors.Read(f, info.Size()); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r reference) vector(t *testing.T, i int, name string) []float32 {
	t.Helper()
	values, err := r.file.Floats(string(rune('0'+i)) + "." + name)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

func open(t *testing.T, name string) *embedding.Model {
	t.Helper()
	source, err := gguf.OpenFile(conformance.Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	m, err := embedding.Open(context.Background(), source, embedding.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// distance is ‖got − want‖ / ‖want‖.
func distance(t *testing.T, got, want []float32) float64 {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d values, wanted %d", len(got), len(want))
	}
	var difference, size float64
	for i, w := range want {
		difference += math.Pow(float64(got[i])-float64(w), 2)
		size += math.Pow(float64(w), 2)
	}
	return math.Sqrt(difference / size)
}

func TestEmbeddingsAreTheReference(t *testing.T) {
	r, m := readReference(t), open(t, "embedding.gguf")
	texts := make([]string, len(r.Texts))
	for i, text := range r.Texts {
		texts[i] = text.Text
		if got := m.Text(text.Text).Tokens; !slices.Equal(got, text.IDs) {
			t.Errorf("%q has the tokens %v, wanted %v", text.Text, got, text.IDs)
		}
	}
	for _, c := range []struct {
		dimensions int
		name       string
	}{{0, "embedding"}, {32, "embedding32"}} {
		vectors, err := m.Texts(context.Background(), texts, embedding.EmbedOptions{Dimensions: c.dimensions})
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range vectors {
			if e := distance(t, v, r.vector(t, i, c.name)); !(e <= tolerance) {
				t.Errorf("text %d, %s: %.2g off", i, c.name, e)
			}
		}
	}
}

func TestABatchGivesWhatEachGivesAlone(t *testing.T) {
	r, m := readReference(t), open(t, "embedding.gguf")
	var texts []string
	for range 12 { // more than one pass
		for _, text := range r.Texts {
			texts = append(texts, text.Text)
		}
	}
	progress := 0
	vectors, err := m.Texts(context.Background(), texts, embedding.EmbedOptions{
		Progress: func(done, total int) { progress = done * len(texts) / total },
	})
	if err != nil || len(vectors) != len(texts) || progress != len(texts) {
		t.Fatalf("%d vectors of %d texts, %d reported: %v", len(vectors), len(texts), progress, err)
	}
	for i, v := range vectors {
		if e := distance(t, v, r.vector(t, i%len(r.Texts), "embedding")); !(e <= tolerance) {
			t.Errorf("text %d of the batch: %.2g off", i, e)
		}
	}
}

func TestWhatCannotBeEmbedded(t *testing.T) {
	m := open(t, "embedding.gguf")
	ctx := context.Background()
	d := m.Config().EmbeddingLength
	long := embedding.Input{Tokens: make([]int32, m.ContextLength()+1)}
	beyond := embedding.Input{Tokens: []int32{int32(m.Config().Vocab)}}
	behind := embedding.Input{Tokens: []int32{2, 1}, Soft: []embedding.Soft{{First: 1, Vectors: make([]float32, 2*d)}}}
	for name, c := range map[string]struct {
		input embedding.Input
		opts  embedding.EmbedOptions
		want  error
	}{
		"no tokens":               {embedding.Input{}, embedding.EmbedOptions{}, embedding.ErrInput},
		"a token beyond":          {beyond, embedding.EmbedOptions{}, embedding.ErrInput},
		"too long":                {long, embedding.EmbedOptions{}, embedding.ErrTooLong},
		"too many dimensions":     {m.Text("x"), embedding.EmbedOptions{Dimensions: m.Dimensions() + 1}, embedding.ErrInput},
		"soft tokens without end": {behind, embedding.EmbedOptions{}, embedding.ErrInput},
	} {
		if _, err := m.Embed(ctx, []embedding.Input{c.input}, c.opts); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, wanted %v", name, err, c.want)
		}
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := m.Texts(cancelled, []string{"x"}, embedding.EmbedOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestTruncatingKeepsTheEnd(t *testing.T) {
	m := open(t, "embedding.gguf")
	tokens := slices.Repeat([]int32{100}, m.ContextLength()+50)
	tokens[0], tokens[len(tokens)-1] = 2, 1
	cut := m.Truncated(embedding.Input{Tokens: tokens}).Tokens
	if len(cut) != m.ContextLength() || cut[0] != 2 || cut[len(cut)-2] != 100 || cut[len(cut)-1] != 1 {
		t.Errorf("%d tokens became %d, from %d to %d", len(tokens), len(cut), cut[0], cut[len(cut)-1])
	}
	if n := len(m.Truncated(embedding.Input{Tokens: cut}).Tokens); n != len(cut) {
		t.Errorf("%d tokens that fit became %d", len(cut), n)
	}
}

func TestOtherFilesAreRefused(t *testing.T) {
	source, err := gguf.OpenFile(conformance.Path(t, "f32.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := embedding.Open(context.Background(), source, embedding.Options{}); !errors.Is(err, arch.ErrArchitecture) {
		t.Errorf("a text model: %v", err)
	}
}

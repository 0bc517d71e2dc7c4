package engine

import (
	"testing"

	"github.com/gemwire/gemwire/bindings/wasm/internal/forms"
	"github.com/gemwire/gemwire/gemma4/nano"
	"github.com/gemwire/gemwire/gguf"
)

func memories(t *testing.T, parts [][]byte) []gguf.Source {
	t.Helper()
	var sources []gguf.Source
	for _, part := range parts {
		sources = append(sources, gguf.Memory(part))
	}
	return sources
}

// TestForms opens the built-in model in every form that it can come in, and
// refuses files that do not belong together.
func TestForms(t *testing.T) {
	parts, err := forms.Split(3)
	if err != nil {
		t.Fatal(err)
	}
	text, projector, err := forms.TwoFiles()
	if err != nil {
		t.Fatal(err)
	}
	whole := func() []gguf.Source { return []gguf.Source{nano.Source()} }
	for _, c := range []struct {
		name    string
		parts   int
		sources []gguf.Source
		want    Code
	}{
		{"one file", 0, whole(), ""},
		{"three parts", 3, memories(t, parts), ""},
		{"a text part alone", 1, memories(t, [][]byte{text}), ""},
		{"a text part and a projector", 1, memories(t, [][]byte{text, projector}), ""},
		{"three parts that have towers, and a projector", 3, memories(t, append(parts[:3:3], projector)), CodeBadFile},
		{"parts in another order", 3, memories(t, [][]byte{parts[1], parts[0], parts[2]}), CodeBadFile},
		{"a part alone", 1, memories(t, parts[:1]), CodeBadFile},
		{"a part that is missing", 2, memories(t, parts[:2]), CodeBadFile},
		{"a projector alone", 1, memories(t, [][]byte{projector}), CodeUnsupported},
		{"two text parts", 1, memories(t, [][]byte{text, text}), CodeBadFile},
		{"a projector that is cut off", 1, memories(t, [][]byte{text, projector[:len(projector)/2]}), CodeBadFile},
		{"a projector that is none", 1, memories(t, [][]byte{text, []byte("not a model, not at all")}), CodeBadFile},
		{"more sources than said", 1, memories(t, parts), CodeInternal},
		{"fewer sources than said", 3, memories(t, parts[:2]), CodeInternal},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPage(t)
			result, failure := p.call(OpOpen, OpenParams{Parts: c.parts, Context: 512}, things(c.sources)...)
			if c.want == "" {
				if failure != nil {
					t.Fatalf("%+v", failure)
				}
				p.must(OpClose, ModelParams{Model: result.(OpenResult).Model})
			} else if failure == nil || failure.Code != c.want {
				t.Errorf("%+v", failure)
			}
		})
	}
}

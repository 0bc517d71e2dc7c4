package gguf_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/conformance"
)

// The two-file form of a model holds, joined, the tensors of its one-file form.
func TestTwoFileFormEqualsOneFileForm(t *testing.T) {
	one := openCase(t, "nano/nano.gguf")
	text, mmproj := conformance.NanoInTwo(t)
	two, err := gguf.OpenPath(t.Context(), text, gguf.WithProjector(mmproj))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { two.Close() })
	if len(one.Tensors) != len(two.Tensors) {
		t.Errorf("%d tensors, want %d", len(two.Tensors), len(one.Tensors))
	}
	for _, want := range one.Tensors {
		got, ok := two.Tensor(want.Name)
		if !ok {
			t.Errorf("%s is missing", want.Name)
			continue
		}
		if got.Type != want.Type || got.Elements() != want.Elements() {
			t.Errorf("%s is %v %v, want %v %v", want.Name, got.Type, got.Dims, want.Type, want.Dims)
			continue
		}
		w, g := make([]byte, want.Size), make([]byte, got.Size)
		if _, err := want.ReadAt(w, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := got.ReadAt(g, 0); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(w, g) {
			t.Errorf("%s has other bytes", want.Name)
		}
	}
	blocks, err := two.Meta.Uint32("clip.vision.block_count")
	want, _ := one.Meta.Uint32("gemma4.vision.block_count")
	if err != nil || blocks != want {
		t.Errorf("%d vision blocks, %v, want %d", blocks, err, want)
	}
	if two.Architecture() != "gemma4" || !two.Projector().IsProjector() {
		t.Errorf("architecture %q", two.Architecture())
	}
}

func TestJoin(t *testing.T) {
	open := func(x fixture) *gguf.File {
		f, err := openBytes(x.bytes(t))
		must(t, err)
		return f
	}
	text := func() *gguf.File {
		return open(fixture{keys: []any{"general.architecture", "gemma4", "general.name", "text"},
			tensors: []string{"output.weight"}})
	}
	projector := func(tensors ...string) *gguf.File {
		return open(fixture{keys: []any{"general.architecture", "clip", "general.name", "towers",
			"clip.has_vision_encoder", true}, tensors: tensors})
	}
	f := text()
	meta := f.Meta
	must(t, f.Join(projector("v.patch_embd.weight")))
	if v, err := f.Meta.Bool("clip.has_vision_encoder"); err != nil || !v {
		t.Errorf("clip key: %v, %v", v, err)
	}
	if name, _ := f.Meta.String("general.name"); name != "text" {
		t.Errorf("the name became %q", name)
	}
	if meta.Has("clip.has_vision_encoder") {
		t.Error("joining changed metadata that was handed out")
	}
	if _, ok := f.Tensor("v.patch_embd.weight"); !ok || len(f.Tensors) != 2 {
		t.Errorf("tensors %v", f.Tensors)
	}
	mistakes := []struct {
		name string
		f, p *gguf.File
	}{
		{"again", f, projector("a.x")},
		{"two texts", text(), text()},
		{"two projectors", projector(), projector()},
		{"swapped", projector(), text()},
		{"tensor in both", text(), projector("output.weight")},
	}
	for _, m := range mistakes {
		if err := m.f.Join(m.p); !errors.Is(err, gguf.ErrParts) {
			t.Errorf("%s: %v", m.name, err)
		}
	}
}

func TestProjectorMistakes(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "text.gguf")
	must(t, os.WriteFile(path, fixture{keys: []any{"general.architecture", "gemma4"}}.bytes(t), 0o666))
	for _, projector := range []string{path, filepath.Join(dir, "none.gguf")} {
		_, err := gguf.OpenPath(context.Background(), path, gguf.WithProjector(projector))
		if err == nil || !strings.Contains(err.Error(), projector) {
			t.Errorf("%s: %v", projector, err)
		}
	}
	if _, err := openBytes(nil, gguf.WithProjector(path)); err == nil {
		t.Error("a named projector was accepted beside a source")
	}
}

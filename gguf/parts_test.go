package gguf_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gguf"
	"github.com/google/go-cmp/cmp"
)

// part is part no of count of a model of so many tensors in all.
func part(t testing.TB, no, count, total int, tensors ...string) []byte {
	keys := []any{"split.no", uint16(no), "split.count", uint16(count), "split.tensors.count", int32(total)}
	if no == 0 {
		keys = append([]any{"general.architecture", "gemma4"}, keys...)
	}
	return fixture{keys: keys, tensors: tensors}.bytes(t)
}

func threeParts(t testing.TB) [][]byte {
	return [][]byte{part(t, 0, 3, 4, "a"), part(t, 1, 3, 4, "b", "c"), part(t, 2, 3, 4, "d")}
}

func writeParts(t testing.TB, parts [][]byte) (dir string) {
	dir = t.TempDir()
	for i, b := range parts {
		must(t, os.WriteFile(filepath.Join(dir, partFile(i)), b, 0o666))
	}
	return dir
}

func partFile(i int) string { return fmt.Sprintf("model-%05d-of-00003.gguf", i+1) }

func TestSplitModelOpensFromAnyPart(t *testing.T) {
	dir := writeParts(t, threeParts(t))
	for i := range 3 {
		f, err := gguf.OpenPath(context.Background(), filepath.Join(dir, partFile(i)))
		must(t, err)
		checkWhole(t, f)
		must(t, f.Close())
	}
}

// checkWhole checks that f is the model of threeParts.
func checkWhole(t testing.TB, f *gguf.File) {
	t.Helper()
	var names []string
	for _, tensor := range f.Tensors {
		names = append(names, tensor.Name)
		got := make([]float32, 8)
		must(t, tensor.ReadRows(got, 0, 2))
		checkRamp(t, got)
	}
	if diff := cmp.Diff([]string{"a", "b", "c", "d"}, names); diff != "" {
		t.Errorf("tensors (-want +got)\n%s", diff)
	}
	if f.Architecture() != "gemma4" {
		t.Errorf("architecture %q", f.Architecture())
	}
	if d, ok := f.Tensor("d"); !ok || d.Source() == f.Tensors[0].Source() {
		t.Error("tensor d is not in a source of its own")
	}
}

func checkRamp(t testing.TB, got []float32) {
	t.Helper()
	if diff := cmp.Diff([]float32{0, 1, 2, 3, 4, 5, 6, 7}, got); diff != "" {
		t.Errorf("values (-want +got)\n%s", diff)
	}
}

func TestOpenParts(t *testing.T) {
	var sources []gguf.Source
	for _, b := range threeParts(t) {
		sources = append(sources, gguf.Memory(b))
	}
	f, err := gguf.OpenParts(context.Background(), sources)
	must(t, err)
	checkWhole(t, f)
	if f.Size() != sources[0].Size()+sources[1].Size()+sources[2].Size() {
		t.Errorf("size %d", f.Size())
	}
}

func TestSplitMistakes(t *testing.T) {
	good := threeParts(t)
	alone := fixture{tensors: []string{"z"}}.bytes(t)
	tests := []struct {
		name  string
		parts [][]byte
		is    error
		says  string
	}{
		{"two alike", [][]byte{good[0], good[1], good[1]}, gguf.ErrParts, "calls itself part 2"},
		{"of another model", [][]byte{good[0], good[1], part(t, 2, 4, 4, "d")}, gguf.ErrParts, "4 parts"},
		{"not a part", [][]byte{good[0], alone, good[2]}, gguf.ErrParts, "file 2 of 3"},
		{"tensor in two parts", [][]byte{good[0], good[1], part(t, 2, 3, 4, "a")}, gguf.ErrParts, `"a"`},
		{"tensor lost", [][]byte{good[0], part(t, 1, 3, 4, "b"), good[2]}, gguf.ErrParts, "3 tensors"},
		{"cut off", [][]byte{good[0], good[1], good[2][:len(good[2])-4]}, gguf.ErrTruncated, partFile(2)},
		{"missing", [][]byte{good[0], good[1]}, gguf.ErrMissingPart, "part 3 of 3"},
		{"number too high", [][]byte{part(t, 5, 3, 4, "a"), good[1], good[2]}, gguf.ErrParts, "split.no"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := writeParts(t, test.parts)
			_, err := gguf.OpenPath(context.Background(), filepath.Join(dir, partFile(0)))
			if !errors.Is(err, test.is) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error %v, want %v that says %q", err, test.is, test.says)
			}
		})
	}
}

func TestPartWithAnotherName(t *testing.T) {
	parts := threeParts(t)
	for _, name := range []string{"model.gguf", "model-00001-of-00004.gguf", "model-1-of-3.gguf"} {
		path := filepath.Join(t.TempDir(), name)
		must(t, os.WriteFile(path, parts[1], 0o666))
		if _, err := gguf.OpenPath(context.Background(), path); !errors.Is(err, gguf.ErrParts) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := openBytes(parts[0]); !errors.Is(err, gguf.ErrParts) {
		t.Errorf("one part as a model: %v", err)
	}
}

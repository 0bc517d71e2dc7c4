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
		{"two alike", [][]byte{good[0], good[1], good[1]}, gguf.ErrParts, "file 3 of 3 calls itself part 2"},
		{"of another model", [][]byte{good[0], good[1], part(t, 2, 4, 4, "d")}, gguf.ErrParts, "4 parts"},
		{"not a part", [][]byte{good[0], alone, good[2]}, gguf.ErrParts, "file 2 of 3"},
		{"tensor in two parts", [][]byte{good[0], good[1], part(t, 2, 3, 4, "a")}, gguf.ErrParts, `"a" of part 3`},
		{"tensor lost", [][]byte{good[0], part(t, 1, 3, 4, "b"), good[2]}, gguf.ErrParts, "3 tensors"},
		{"cut off", [][]byte{good[0], good[1], good[2][:len(good[2])-4]}, gguf.ErrTruncated, partFile(2)},
		{"missing", [][]byte{good[0], good[1]}, gguf.ErrMissingPart, "part 3 of 3"},
		{"number one too high", [][]byte{part(t, 3, 3, 4, "a"), good[1], good[2]}, gguf.ErrParts, "split.no"},
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

// A file that says that it is the only part stands alone, whatever else it says of parts.
func TestTheOnlyPart(t *testing.T) {
	for name, keys := range map[string][]any{
		"a count":                  {"split.count", uint16(1)},
		"a count of none":          {"split.count", uint16(0), "split.no", uint16(5)},
		"a count and other totals": {"split.count", uint16(1), "split.tensors.count", int32(9)},
	} {
		path := filepath.Join(t.TempDir(), "model.gguf")
		alone := fixture{keys: keys, tensors: []string{"a"}}.bytes(t)
		must(t, os.WriteFile(path, alone, 0o666))
		f, err := gguf.OpenPath(context.Background(), path)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		must(t, f.Close())
		if _, err := gguf.OpenParts(context.Background(), []gguf.Source{gguf.Memory(alone)}); err != nil {
			t.Errorf("%s, as a list of one: %v", name, err)
		}
	}
}

// Parts need not say how many tensors they have together.
func TestPartsWithoutTotal(t *testing.T) {
	var parts []gguf.Source
	for i, name := range []string{"a", "b"} {
		keys := []any{"split.no", uint16(i), "split.count", uint16(2)}
		parts = append(parts, gguf.Memory(fixture{keys: keys, tensors: []string{name}}.bytes(t)))
	}
	f, err := gguf.OpenParts(context.Background(), parts)
	must(t, err)
	if len(f.Tensors) != 2 {
		t.Errorf("%d tensors", len(f.Tensors))
	}
}

// Errors name the part where there are several.
func TestPartsThatAreBroken(t *testing.T) {
	good, broken := gguf.Memory(threeParts(t)[0]), gguf.Memory([]byte("GGUF"))
	for _, test := range []struct {
		parts []gguf.Source
		part  string
	}{{[]gguf.Source{broken}, ""}, {[]gguf.Source{good, broken}, "part 2 of 2"}} {
		_, err := gguf.OpenParts(context.Background(), test.parts)
		if !errors.Is(err, gguf.ErrTruncated) || !strings.Contains(err.Error(), test.part) ||
			test.part == "" && strings.Contains(err.Error(), "part 1") {
			t.Errorf("%d parts: %v", len(test.parts), err)
		}
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

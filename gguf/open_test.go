package gguf

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// sharedCase finds a conformance file, in the repository or beside it.
func sharedCase(t testing.TB, name string) string {
	t.Helper()
	dirs := []string{filepath.Join("..", "testdata", "conformance"), filepath.Join("..", "..", "shared", "conformance")}
	if dir := os.Getenv("GEMWIRE_SHARED"); dir != "" {
		dirs = append(dirs, filepath.Join(dir, "conformance"), dir)
	}
	for _, dir := range dirs {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	t.Skipf("conformance case %s is not there; set GEMWIRE_SHARED to the shared folder", name)
	return ""
}

func TestOpenConformance(t *testing.T) {
	f, err := OpenPath(context.Background(), sharedCase(t, "e2b.gguf"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := f.Architecture(); got != "gemma4" {
		t.Errorf("architecture %q", got)
	}
	for _, tensor := range f.Tensors {
		row := make([]float32, tensor.RowLen())
		if err := tensor.ReadRows(row, tensor.Rows()-1, 1); err != nil {
			t.Error(err)
		}
	}
	for _, k := range f.Meta.Keys() {
		v, _ := f.Meta.Lookup(k)
		t.Log(k, v)
	}
}

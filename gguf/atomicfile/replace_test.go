package atomicfile_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/gemwire/gemwire/gguf/atomicfile"
)

func TestReplace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	put := func(text string, fault error) error {
		return atomicfile.Replace(path, 0o640, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return errors.Join(err, fault)
		})
	}
	if err := put("one", nil); err != nil {
		t.Fatal(err)
	}
	full := errors.New("full")
	if err := put("two", full); !errors.Is(err, full) {
		t.Errorf("half a file: %v", err)
	}
	data, err := os.ReadFile(path)
	if err != nil || string(data) != "one" {
		t.Errorf("%q, %v after a fault", data, err)
	}
	if err := put("three", nil); err != nil {
		t.Fatal(err)
	}
	if data, _ := os.ReadFile(path); string(data) != "three" {
		t.Errorf("%q", data)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("%d files are there, %v", len(entries), err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

package atomicfile_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

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

// What killed processes have left is removed, and nothing else.
func TestAbandoned(t *testing.T) {
	folder := t.TempDir()
	old := time.Now().Add(-time.Hour)
	for name, when := range map[string]time.Time{
		".file.123": old, ".file.456": time.Now(), ".file.x12": old, ".file.": old, ".other.123": old, "file.123": old,
	} {
		path := filepath.Join(folder, name)
		if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chtimes(path, when, when)); err != nil {
			t.Fatal(err)
		}
	}
	if err := atomicfile.Replace(filepath.Join(folder, "file"), 0o600,
		func(io.Writer) error { return nil }); err != nil {
		t.Fatal(err)
	}
	var left []string
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if want := []string{".file.", ".file.456", ".file.x12", ".other.123", "file", "file.123"}; !slices.Equal(left,
		want) {
		t.Errorf("left are %q, wanted %q", left, want)
	}
}

package webapp

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func zipped(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, content := range files {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestUnpack(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "none yet")
	app := zipped(t, map[string]string{"index.html": "the app", "assets/a.js": "1"})
	folder, err := unpack(app, cache)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"index.html": "the app", "assets/a.js": "1"} {
		if got, err := os.ReadFile(filepath.Join(folder, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if again, err := unpack(app, cache); err != nil || again != folder {
		t.Errorf("a second time: %s, %v", again, err)
	}
	other, err := unpack(zipped(t, map[string]string{"index.html": "another version"}), cache)
	if err != nil || other == folder {
		t.Errorf("another version is in %s, %v", other, err)
	}
	left, err := os.ReadDir(filepath.Join(cache, "gemwire"))
	if err != nil || len(left) != 2 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// What is no app leaves nothing behind.
func TestUnpackRefuses(t *testing.T) {
	for name, archive := range map[string][]byte{
		"no archive": []byte("nothing"), "a way out": zipped(t, map[string]string{"../index.html": "x"}),
		"an absolute path": zipped(t, map[string]string{"/index.html": "x"}),
		"a folder":         zipped(t, map[string]string{"folder/": ""}),
	} {
		cache := t.TempDir()
		if folder, err := unpack(archive, cache); err == nil {
			t.Errorf("%s: unpacked into %s", name, folder)
		}
		if left, err := os.ReadDir(filepath.Join(cache, "gemwire")); err != nil || len(left) != 0 {
			t.Errorf("%s: left are %v, %v", name, left, err)
		}
	}
}

func TestWithoutTheApp(t *testing.T) {
	if Included() {
		t.Skip("this test's program carries the app")
	}
	if _, err := Unpack(t.TempDir()); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
}

package flagset

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gemwire/gemwire/gemma4/chat"
)

func TestTakePaths(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"a b.png", "c.wav", "it's.jpg", "notes.txt"} {
		if err := os.WriteFile(name, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		line, rest string
		files      []MediaFile
	}{
		{"What is this?", "What is this?", nil},
		{"  kept  as it is ", "  kept  as it is ", nil},
		{`a\ b.png What is this?`, "What is this?", []MediaFile{{chat.Image, "a b.png"}}},
		{`Compare "a b.png" with 'c.wav', please`, `Compare with 'c.wav', please`,
			[]MediaFile{{chat.Image, "a b.png"}}},
		{`What's in c.wav and "it's.jpg" there?`, "What's in and there?",
			[]MediaFile{{chat.Audio, "c.wav"}, {chat.Image, "it's.jpg"}}},
		{"file://" + filepath.ToSlash(dir) + "/a%20b.png", "",
			[]MediaFile{{chat.Image, filepath.ToSlash(dir) + "/a b.png"}}},
		{"missing.png notes.txt", "missing.png notes.txt", nil},
		{"first\nc.wav\nsecond", "first\n\nsecond", []MediaFile{{chat.Audio, "c.wav"}}},
		{`unclosed "a b.png`, `unclosed "a b.png`, nil},
	} {
		rest, files := TakePaths(tt.line)
		if rest != tt.rest || !cmp.Equal(files, tt.files) {
			t.Errorf("%q: %q and %v, want %q and %v", tt.line, rest, files, tt.rest, tt.files)
		}
	}
}

// Whatever a line holds, what names no file stays as it is.
func FuzzTakePaths(f *testing.F) {
	for _, line := range []string{`a\ b.png What?`, `'x.png`, `"it's" c.wav`, "file://%zz.png", `\`, "~/x.png"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		rest, files := TakePaths(line)
		if len(files) == 0 && rest != line {
			t.Errorf("%q became %q", line, rest)
		}
	})
}

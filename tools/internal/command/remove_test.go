package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/tools/internal/command/flagset"
)

func TestRemove(t *testing.T) {
	s := newStore(t)
	s.create("friend", nil)
	m := machine{models: t.TempDir(), store: s.root}
	for _, name := range []string{"one.gguf", ".one.gguf.origin.json", "two.gguf", "half.gguf.part", "half.gguf.part.json",
		"big-00001-of-00002.gguf", "big-00002-of-00002.gguf", "notes.txt"} {
		if err := os.WriteFile(filepath.Join(m.models, name), []byte("0123456789"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	mine := writeFile(t, "mine.gguf", nil)
	for name, want := range map[string]string{
		"nano": "is built into gemwire", "friend": "ollama rm friend", mine: "a file of your own",
		"three": "three was not pulled; gemwire list", "https://example.org/x.gguf": "is a URL", "../x": "does not exist",
		"notes.txt":        "notes.txt was not pulled",
		filepath.Dir(mine): "is a folder", "tow": "did you mean two?",
	} {
		got := m.run(t, "", "rm", "one", name)
		if wantSentence(t, got, want); !flagset.IsThere(filepath.Join(m.models, "one.gguf")) {
			t.Fatalf("one is gone before %s was looked at", name)
		}
	}
	got := m.run(t, "", "rm", "one", "half", "big-00002-of-00002.gguf")
	ok(t, got)
	if strings.Count(got.err, "deleted ") != 4 || !strings.Contains(got.err, "one.gguf, 10 B\n") {
		t.Errorf("messages %q", got.err)
	}
	left, err := os.ReadDir(m.models)
	if err != nil || len(left) != 2 || left[0].Name() != "notes.txt" || left[1].Name() != "two.gguf" {
		t.Errorf("left are %v, %v", left, err)
	}
}

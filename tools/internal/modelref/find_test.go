package modelref

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4/nano"
	"github.com/gemwire/gemwire/gguf/ollama"
)

// machine lays out a folder of pulled models and an Ollama store, both with nano.
func machine(t *testing.T) Finder {
	t.Helper()
	root := t.TempDir()
	source := nano.Source()
	content := make([]byte, source.Size())
	if _, err := source.ReadAt(content, 0); err != nil {
		t.Fatal(err)
	}
	const digest = "f78e62044e35710c7935b123d762f59708a915915b62c58c4448bea0bf3c3e4e"
	manifest := `{"schemaVersion":2,"config":{"mediaType":"application/vnd.docker.container.image.v1+json",` +
		`"digest":"sha256:` + strings.Repeat(
		"0",
		64,
	) + `","size":2},` +
		`"layers":[{"mediaType":"application/vnd.ollama.image.model","digest":"sha256:` + digest +
		`","size":12548000}]}`
	for name, data := range map[string][]byte{
		"pulled/tiny.gguf":      content,
		"pulled/half.gguf.part": content[:1000],
		"pulled/notes.txt":      []byte("notes"),
		"ollama/manifests/registry.ollama.ai/library/gemma4/e2b": []byte(manifest),
		"ollama/blobs/sha256-" + digest:                          content,
		"ollama/blobs/sha256-" + strings.Repeat("0", 64):         []byte("{}"),
		"here/local.gguf":  content,
		"many/a.gguf":      content[:1],
		"many/[b].gguf":    content[:1],
		"empty/readme.txt": nil,
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(root)
	return Finder{
		Folder: filepath.Join(root, "pulled"),
		Store:  func() (*ollama.Store, error) { return ollama.At(filepath.Join(root, "ollama")) },
	}
}

func TestFind(t *testing.T) {
	f := machine(t)
	tests := []struct {
		name string
		kind Kind
		call string // what the reference is called
		ends string // its path
	}{
		{"", BuiltIn, "nano", ""},
		{"nano", BuiltIn, "nano", ""},
		{"here/local.gguf", File, "here/local.gguf", "here/local.gguf"},
		{"tiny", Pulled, "tiny", "pulled/tiny.gguf"},
		{"tiny.gguf", Pulled, "tiny.gguf", "pulled/tiny.gguf"},
		{"gemma4:e2b", Ollama, "gemma4:e2b", "f78e62044e35710c7935b123d762f59708a915915b62c58c4448bea0bf3c3e4e"},
		{"https://example.org/x.gguf", URL, "https://example.org/x.gguf", "https://example.org/x.gguf"},
		{"HTTP://example.org/x", URL, "HTTP://example.org/x", "HTTP://example.org/x"},
		{
			"https://huggingface.co/a/b/blob/main/c.gguf",
			URL,
			"https://huggingface.co/a/b/blob/main/c.gguf",
			"https://huggingface.co/a/b/resolve/main/c.gguf",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := f.Find(tt.name)
			if err != nil {
				t.Fatal(err)
			}
			if got.Kind != tt.kind || got.Name != tt.call || !strings.HasSuffix(filepath.ToSlash(got.Path), tt.ends) {
				t.Errorf("%+v", got)
			}
			if got.Kind == URL {
				return
			}
			file, err := got.Open(context.Background(), OpenOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if file.Architecture() != "gemma4" {
				t.Errorf("architecture %q", file.Architecture())
			}
			if err := file.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestFindFails(t *testing.T) {
	f := machine(t)
	tests := []struct {
		name, want string
	}{
		{"here/other.gguf", "the file here/other.gguf does not exist"},
		{"./other", "the file ./other does not exist"},
		{"half.gguf.part", "is not a file"},
		{"half", "is not a file"},
		{"here", "name a file in it: " + filepath.Join("here", "local.gguf")},
		{"many", filepath.Join("many", "[b].gguf")},
		{"empty", "without .gguf files"},
		{"gemma4:e3b", "did you mean gemma4:e2b?"},
		{"gemma4:31b", "did you mean gemma4:e2b?"}, // another size of the same model
		{"gema4:e2b", "did you mean gemma4:e2b?"},
		{"nanu", "did you mean nano?"},
		{"tinny", "did you mean tiny?"},
		{"a name", `"a name" is not a file`},
		{"../pulled/tiny", "does not exist"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := f.Find(tt.name)
			if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

// A folder that OLLAMA_MODELS names in vain is mentioned, and no other.
func TestMissingStore(t *testing.T) {
	f := machine(t)
	if got := f.MissingStore(); got != "" {
		t.Errorf("without OLLAMA_MODELS: %q", got)
	}
	f.StoreFolder = "ollama"
	if got := f.MissingStore(); got != "" {
		t.Errorf("where the store is: %q", got)
	}
	f.Store = func() (*ollama.Store, error) { return ollama.At(f.StoreFolder) }
	for folder, want := range map[string]string{"nowhere": "nowhere, which does not exist", "empty": "stored no models"} {
		f.StoreFolder = folder
		_, err := f.Find("gemma4:e2b")
		if got := f.MissingStore(); !strings.Contains(got, want) || err == nil || !strings.Contains(err.Error(), got) {
			t.Errorf("%s: %q, error %v", folder, got, err)
		}
	}
}

// A prompt is no model because a file is called so.
func TestNames(t *testing.T) {
	f := machine(t)
	for word, want := range map[string]bool{
		"nano": true, "tiny": true, "gemma4:e2b": true, "GEMMA4:E2B": true, "here": false, "Hello": false, "": false,
		"What is nano?": false, "here/local.gguf": false,
	} {
		if got := f.Names(word); got != want {
			t.Errorf("%q: %v", word, got)
		}
	}
}

func TestList(t *testing.T) {
	entries, err := machine(t).List()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if e.Err != nil {
			t.Errorf("%s: %v", e.Name, e.Err)
		}
		names = append(names, string(e.Kind)+" "+e.Name)
	}
	if got, want := strings.Join(names, ", "), "built-in nano, pulled tiny, ollama gemma4:e2b"; got != want {
		t.Errorf("models %q, want %q", got, want)
	}
}

func TestListOfNothing(t *testing.T) {
	f := Finder{
		Folder: filepath.Join(t.TempDir(), "none"),
		Store:  func() (*ollama.Store, error) { return nil, ollama.ErrNoStore },
	}
	entries, err := f.List()
	if err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
}

func TestLooksLikeModel(t *testing.T) {
	for _, word := range []string{"gemma4:e2b", "me/gemma4:e2b", "x.gguf", "./x", "/x/y", "~/x", "https://x/y"} {
		if !LooksLikeModel(word) {
			t.Errorf("%q is no model", word)
		}
	}
	for _, word := range []string{"", "Hello", "Hello!", "What is 3:4?", "yes/no", "note: this", "a:b:c"} {
		if LooksLikeModel(word) {
			t.Errorf("%q is a model", word)
		}
	}
}

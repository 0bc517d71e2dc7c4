package ollama

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseName(t *testing.T) {
	tests := []struct {
		in, path, short string
	}{
		{"gemma4", "registry.ollama.ai/library/gemma4/latest", "gemma4:latest"},
		{"gemma4:e2b", "registry.ollama.ai/library/gemma4/e2b", "gemma4:e2b"},
		{"user/model:tag", "registry.ollama.ai/user/model/tag", "user/model:tag"},
		{"library/gemma4", "registry.ollama.ai/library/gemma4/latest", "gemma4:latest"},
		{"hf.co/Org/Model-GGUF:Q4_K_M", "hf.co/Org/Model-GGUF/Q4_K_M", "hf.co/Org/Model-GGUF:Q4_K_M"},
		{"localhost:5000/ns/model", "localhost:5000/ns/model/latest", "localhost:5000/ns/model:latest"},
		{"https://registry.ollama.ai/library/gemma4:e2b", "registry.ollama.ai/library/gemma4/e2b", "gemma4:e2b"},
		{"_a/_b.c:_d.e-f", "registry.ollama.ai/_a/_b.c/_d.e-f", "_a/_b.c:_d.e-f"},
	}
	for _, test := range tests {
		n, err := ParseName(test.in)
		if err != nil {
			t.Errorf("%s: %v", test.in, err)
			continue
		}
		if got := filepath.ToSlash(n.path()); got != test.path {
			t.Errorf("%s lies at %s, want %s", test.in, got, test.path)
		}
		if got := n.String(); got != test.short {
			t.Errorf("%s is shown as %s, want %s", test.in, got, test.short)
		}
	}
}

var badNames = []string{
	"", ":", "/", "a:", ":a", "a//b", "/a", "a/", "a/b/c/d", "..", "../x", "a/..", "..:tag", "a:..", "a:../../x",
	"a/../b", "../../a", ".hidden", "a/.b", "a:.b", "-a", "a b", "a\x00b", "a\\b", `a\..\b`, "C:\\x:y", "a:b:c", "é",
	"n.s/model", "a@sha256:00", "~/x", strings.Repeat("a", 81), "a:" + strings.Repeat("a", 81),
	strings.Repeat("h", 351) + "/a/b",
}

func TestParseNameRefuses(t *testing.T) {
	for _, bad := range badNames {
		if n, err := ParseName(bad); !errors.Is(err, ErrName) {
			t.Errorf("%.100q became %v, %v", bad, n, err)
		}
	}
}

// FuzzName: a name is refused, or means a file four folders below the
// manifests, and is read again from what it is shown as.
func FuzzName(f *testing.F) {
	for _, name := range append([]string{"gemma4:e2b", "hf.co/Org/Model:Q4", "https://x/y/z"}, badNames...) {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := ParseName(s)
		if err != nil {
			if !errors.Is(err, ErrName) || len(err.Error()) > 1000 {
				t.Fatalf("%v", err)
			}
			return
		}
		path := n.path()
		if !filepath.IsLocal(path) || filepath.Clean(path) != path || strings.Count(filepath.ToSlash(path), "/") != 3 {
			t.Fatalf("%q lies at %q", s, path)
		}
		if again, err := ParseName(n.String()); err != nil || again != n {
			t.Fatalf("%q: %v became %v, %v", s, n, again, err)
		}
	})
}

// FuzzManifest: whatever the JSON, it is refused or all of its files are blobs.
func FuzzManifest(f *testing.F) {
	f.Add([]byte(`{"schemaVersion":2,"config":{"digest":"sha256:` + strings.Repeat("a", 64) +
		`","size":2},"layers":[{"mediaType":"x","digest":"sha256:` + strings.Repeat("0", 64) + `","size":7}]}`))
	f.Add([]byte(`{"layers":[{"digest":"sha256:../../../../etc/passwd"}]}`))
	f.Add([]byte(`{"layers":[{}]}`))
	f.Add([]byte(`{"layers":null}`))
	f.Add([]byte(`[`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := parseManifest(text)
		if err != nil {
			if !errors.Is(err, ErrManifest) {
				t.Fatalf("%v", err)
			}
			return
		}
		if m.size() < 0 {
			t.Fatalf("size %d", m.size())
		}
		for _, l := range m.all() {
			path, err := (&Store{root: "root"}).blobPath(l.Digest)
			if err != nil || filepath.Dir(path) != filepath.Join("root", "blobs") || l.Size < 0 {
				t.Fatalf("%+v lies at %q, %v", l, path, err)
			}
		}
	})
}

func TestEditDistance(t *testing.T) {
	tests := []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "ab", 2}, {"kitten", "sitting", 3}, {"gemma4", "gema4", 1}, {"ab", "ba", 2}}
	for _, test := range tests {
		if got := editDistance(test.a, test.b); got != test.want {
			t.Errorf("%q, %q: %d, want %d", test.a, test.b, got, test.want)
		}
	}
}

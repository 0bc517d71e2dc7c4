package main

import (
	"go/doc/comment"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The pages of two packages of the repository hold what their sources say, with
// links that lead to each other.
func TestPages(t *testing.T) {
	out := t.TempDir()
	t.Chdir("../../../..")
	if err := run(out, []string{"quant", "gguf"}); err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	quant, ollama := read("quant.md"), read("gguf/ollama.md")
	for _, want := range []string{
		"# quant\n", "import \"github.com/gemwire/gemwire/quant\"", "Package quant holds",
		"## type Type {#Type}", "### func (Type) Dequantize {#Type.Dequantize}", "[Type.Size](#Type.Size)",
		"ErrUnsupported = errors.New", "<a id=\"Q4_K\"></a>", "::: details Example", "/blob/main/quant/",
	} {
		if !strings.Contains(quant, want) {
			t.Errorf("quant.md lacks %q", want)
		}
	}
	if want := "### func (Store) Resolve {#Store.Resolve}"; !strings.Contains(ollama, want) {
		t.Errorf("gguf/ollama.md lacks %q", want)
	}
	if _, err := os.Stat(filepath.Join(out, "gguf", "internal")); err == nil {
		t.Error("an internal package has a page")
	}
}

func TestLinks(t *testing.T) {
	w := &writer{pkg: &pkg{folder: "gguf/ollama"}, all: []*pkg{{folder: "gguf"}}}
	for want, link := range map[string]comment.DocLink{
		"#Store":                       {Name: "Store"},
		"#Store.Resolve":               {Recv: "Store", Name: "Resolve"},
		"../gguf.md#File":              {ImportPath: root + "gguf", Name: "File"},
		"https://pkg.go.dev/io#Reader": {ImportPath: "io", Name: "Reader"},
		"https://pkg.go.dev/" + root + "internal": {ImportPath: root + "internal"},
	} {
		if got := w.link(&link); got != want || w.err != nil {
			t.Errorf("%+v: %q %v, want %q", link, got, w.err, want)
		}
	}
}

func TestNoArguments(t *testing.T) {
	if err := run("", nil); err == nil {
		t.Error("nothing to do, and no error")
	}
}

package gemma4_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gguf"
)

// withTemplate is the built-in model's file with a chat template of its own.
func withTemplate(t *testing.T, template string) string {
	return withMeta(t, nanoPath, map[string]any{"tokenizer.chat_template": template})
}

// withMeta is a file with other metadata.
func withMeta(t *testing.T, of string, values map[string]any) string {
	t.Helper()
	file, err := gguf.OpenPath(t.Context(), of)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	path := filepath.Join(t.TempDir(), "other.gguf")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	w := gguf.NewWriter(out)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(w.SetAll(file.Meta))
	for key, value := range values {
		must(w.Set(key, value))
	}
	for _, tensor := range file.Tensors {
		must(w.Add(gguf.TensorInfo{Name: tensor.Name, Type: tensor.Type, Dims: tensor.Dims}))
	}
	for _, tensor := range file.Tensors {
		data, err := io.ReadAll(tensor.Section())
		must(err)
		must(w.WriteTensor(tensor.Name, data))
	}
	must(w.Close())
	return path
}

func TestTemplateOfAFile(t *testing.T) {
	opts := gemma4.OpenOptions{Device: gemma4.DeviceCPU}
	if note := open(t, nanoPath, opts).Info().TemplateNote; note != "" {
		t.Errorf("a file without a template: %q", note)
	}
	note := open(t, withTemplate(t, "{{ messages }}"), opts).Info().TemplateNote
	if !strings.Contains(note, "a chat template of its own") {
		t.Errorf("a file with one of its own: %q", note)
	}
}

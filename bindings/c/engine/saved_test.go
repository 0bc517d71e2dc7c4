package engine

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/nano"
	"github.com/gemwire/gemwire/multimodal/fault"
)

// A saved session goes on, and none of its bytes can change unseen.
func TestSavedConversations(t *testing.T) {
	d := newDesk(t)
	d.say("My name is Ada.")
	path := filepath.Join(t.TempDir(), "session")
	if err := d.SaveSession(d.session, path); err != nil {
		t.Fatal(err)
	}
	if err := d.Reset(d.session); err != nil {
		t.Fatal(err)
	}
	if err := d.RestoreSession(d.session, path); err != nil {
		t.Fatal(err)
	}
	if got := d.say("What is my name?"); got != "Your name is Ada." {
		t.Errorf("after restoring: %q", got)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(whole); at += 1 + at/2 {
		whole[at] ^= 4
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := d.RestoreSession(d.session, path); FailureOf(err).Kind != fault.BadFile {
			t.Errorf("with byte %d changed: %v", at, err)
		}
		whole[at] ^= 4
	}
}

// A name that is no file is looked for in Ollama's store.
func TestNamesOfOllamasStore(t *testing.T) {
	source := nano.Source()
	model := make([]byte, source.Size())
	if _, err := source.ReadAt(model, 0); err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	t.Setenv("OLLAMA_MODELS", root)
	write := func(name string, data []byte) {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	blob := func(kind string, data []byte) string {
		sum := sha256.Sum256(data)
		write(fmt.Sprintf("blobs/sha256-%x", sum), data)
		return fmt.Sprintf(`{"mediaType": "application/vnd.ollama.image.%s", "digest": "sha256:%x", "size": %d}`, kind, sum,
			len(data))
	}
	manifest := func(name string, layers string) {
		write("manifests/registry.ollama.ai/library/"+name+"/latest", []byte(`{"schemaVersion": 2, "layers": [`+layers+`]}`))
	}
	manifest("tiny", blob("model", model))
	manifest("tuned", blob("model", model)+","+blob("adapter", []byte("GGUF")))
	var e Engine
	h, err := e.OpenModel(t.Context(), "tiny", OpenOptions{Device: gemma4.DeviceCPU})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(h); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]fault.Kind{"tuned": fault.Unsupported, "absent": fault.NotFound} {
		if _, err := e.OpenModel(t.Context(), name, OpenOptions{}); FailureOf(err).Kind != want {
			t.Errorf("%s: %v; want %s", name, err, want)
		}
	}
}

// An error is about the file that the caller named.
func TestSaveSessionSaysWhere(t *testing.T) {
	d := newDesk(t)
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(folder, "none", "s"), filepath.Join(folder, "file", "s"), folder} {
		err := d.SaveSession(d.session, path)
		if err == nil || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "/.") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func TestUnknownRoles(t *testing.T) {
	d := newDesk(t)
	_, err := d.Chat(t.Context(), d.session, []chat.Message{{Role: "wizard", Content: chat.Text("Hi")}}, nil,
		DefaultAnswer())
	d.want(err, fault.BadArgument)
}

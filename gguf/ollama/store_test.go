package ollama

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gguf"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// A fakeStore is laid out as Ollama lays out its own.
type fakeStore struct {
	t    testing.TB
	root string
}

func newStore(t testing.TB) fakeStore {
	s := fakeStore{t, t.TempDir()}
	s.write("manifests/.keep", nil)
	return s
}

func (s fakeStore) open() *Store {
	s.t.Helper()
	store, err := At(s.root)
	if err != nil {
		s.t.Fatal(err)
	}
	return store
}

func (s fakeStore) write(path string, b []byte) string {
	s.t.Helper()
	path = filepath.Join(s.root, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o666); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// layer stores content as a blob.
func (s fakeStore) layer(mediaType string, content []byte) layer {
	sum := fmt.Sprintf("%x", sha256.Sum256(content))
	s.write("blobs/sha256-"+sum, content)
	return layer{mediaType, "sha256:" + sum, int64(len(content))}
}

func (s fakeStore) manifest(path string, layers ...layer) {
	m := manifest{Config: s.layer("application/vnd.docker.container.image.v1+json", []byte("{}")), Layers: layers}
	text, err := json.Marshal(m)
	if err != nil {
		s.t.Fatal(err)
	}
	s.write("manifests/"+path, text)
}

func (s fakeStore) path(l layer) string {
	return filepath.Join(s.root, "blobs", strings.Replace(l.Digest, ":", "-", 1))
}

// model is a small GGUF file.
func model(t testing.TB, architecture string) []byte {
	var b bytes.Buffer
	w := gguf.NewWriter(&b)
	if err := errors.Join(w.Set("general.architecture", architecture), w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestResolve(t *testing.T) {
	s := newStore(t)
	weights := s.layer(mediaModel, model(t, "gemma4"))
	projector := s.layer(mediaProjector, model(t, "clip"))
	adapter := s.layer(mediaAdapter, []byte("adapter"))
	s.manifest("registry.ollama.ai/library/gemma4/e2b", weights, projector, adapter,
		s.layer(mediaTemplate, []byte("{{ .Prompt }}")),
		s.layer(mediaSystem, []byte("Be brief.")),
		s.layer(mediaParams, []byte(`{"temperature":1,"stop":["<turn|>"]}`)),
		s.layer(mediaMessages, []byte(`[{"role":"user","content":"Hi"},{"role":"assistant","content":"Hello."}]`)),
		s.layer(mediaLicense, []byte("first")), s.layer(mediaLicense, []byte("second")),
		s.layer("application/vnd.ollama.image.future", []byte("unknown layers are passed over")))
	s.manifest("registry.ollama.ai/me/tuned/latest", weights)
	s.manifest("hf.co/Org/Gemma-4-GGUF/Q4_K_M", weights)

	m, err := s.open().Resolve("gemma4:e2b")
	if err != nil {
		t.Fatal(err)
	}
	want := &Model{
		Name: Name{defaultHost, defaultNamespace, "gemma4", "e2b"},
		Path: s.path(weights), Projector: s.path(projector), Adapters: []string{s.path(adapter)},
		Template: "{{ .Prompt }}", System: "Be brief.", Licenses: []string{"first", "second"},
		Params:   map[string]any{"temperature": 1.0, "stop": []any{"<turn|>"}},
		Messages: []Message{{"user", "Hi"}, {"assistant", "Hello."}},
		Digest:   m.Digest,
	}
	if diff := cmp.Diff(want, m, cmpopts.IgnoreUnexported(Model{})); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"application/vnd.ollama.image.future"}, m.Unknown()); diff != "" {
		t.Errorf("unknown (-want +got)\n%s", diff)
	}
	f, err := m.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if f.Architecture() != "gemma4" || f.Projector() == nil {
		t.Errorf("architecture %q, projector %v", f.Architecture(), f.Projector())
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"me/tuned", "ME/tuned:LATEST", "registry.ollama.ai/me/tuned",
		"hf.co/Org/Gemma-4-GGUF:Q4_K_M", "https://hf.co/org/gemma-4-gguf:q4_k_m"} {
		if m, err := s.open().Resolve(name); err != nil || m.Path != s.path(weights) {
			t.Errorf("%s: %+v, %v", name, m, err)
		}
	}
}

func TestResolveMistakes(t *testing.T) {
	s := newStore(t)
	weights := s.layer(mediaModel, model(t, "gemma4"))
	s.manifest("registry.ollama.ai/library/gemma4/e2b", weights)
	s.manifest("registry.ollama.ai/library/gemma3/4b", weights)
	s.manifest("registry.ollama.ai/library/llama/8b", weights)
	s.manifest("registry.ollama.ai/library/two/latest", weights, weights)
	s.manifest("registry.ollama.ai/library/none/latest", s.layer(mediaTemplate, []byte("x")))
	s.manifest("registry.ollama.ai/library/empty/latest")
	s.manifest("registry.ollama.ai/library/params/latest", weights, s.layer(mediaParams, []byte("[1")))
	s.manifest("registry.ollama.ai/library/messages/latest", weights, s.layer(mediaMessages, []byte(`{"role":1}`)))
	s.manifest("registry.ollama.ai/library/lost/latest", layer{mediaModel, "sha256:" + strings.Repeat("0", 64), 5})
	s.manifest("registry.ollama.ai/library/short/latest", layer{mediaModel, weights.Digest, weights.Size + 1})
	s.manifest("registry.ollama.ai/library/negative/latest", layer{mediaModel, weights.Digest, -1})
	s.manifest("registry.ollama.ai/library/escape/latest", layer{mediaModel, "sha256:../../../etc/passwd", 5})
	s.write("manifests/registry.ollama.ai/library/json/latest", []byte("{"))
	s.write("manifests/registry.ollama.ai/library/large/latest", bytes.Repeat([]byte(" "), maxManifest+1))

	tests := []struct {
		name string
		is   error
		says []string
	}{
		{"gemma4:e4b", ErrNotFound, []string{"ollama pull gemma4:e4b", "gemma4:e2b"}},
		{"gema4:e2b", ErrNotFound, []string{"ollama pull gema4:e2b", "did you mean gemma4:e2b"}},
		{"unlike", ErrNotFound, []string{"ollama pull unlike:latest"}},
		{"two", ErrManifest, []string{"several"}},
		{"none", ErrManifest, []string{"no weights"}},
		{"empty", ErrManifest, []string{"no layers"}},
		{"params", ErrManifest, []string{"parameters"}},
		{"messages", ErrManifest, []string{"messages"}},
		{"json", ErrManifest, []string{"json"}},
		{"large", ErrManifest, []string{"more than"}},
		{"negative", ErrManifest, []string{"-1"}},
		{"escape", ErrManifest, []string{"digest"}},
		{"lost", ErrIncomplete, []string{"missing", "ollama pull lost:latest"}},
		{"short", ErrIncomplete, []string{"bytes", "ollama pull short:latest"}},
		{"../../etc/passwd", ErrName, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := s.open().Resolve(test.name)
			if !errors.Is(err, test.is) {
				t.Fatalf("error %v, want %v", err, test.is)
			}
			for _, says := range test.says {
				if !strings.Contains(err.Error(), says) {
					t.Errorf("error %q does not say %q", err, says)
				}
			}
		})
	}
	if _, err := s.open().Resolve("unlike"); strings.Contains(err.Error(), "did you mean") {
		t.Errorf("error %q suggests what is nothing like it", err)
	}
}

func TestList(t *testing.T) {
	s := newStore(t)
	weights := s.layer(mediaModel, model(t, "gemma4"))
	s.manifest("registry.ollama.ai/library/gemma4/e2b", weights)
	s.manifest("hf.co/org/model/Q8_0", weights, weights)
	s.write("manifests/registry.ollama.ai/library/bad/latest", []byte("{"))
	s.write("manifests/registry.ollama.ai/library/gemma4/.DS_Store", []byte("x"))
	s.write("manifests/stray", []byte("x"))
	if err := os.Symlink(s.root, filepath.Join(s.root, "manifests", "loop")); err != nil {
		t.Log("no links here:", err)
	}
	entries, err := s.open().List()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		if e.Modified.IsZero() || (e.Err == nil) != (len(e.Digest) == 64) {
			t.Errorf("%+v", e)
		}
		got = append(got, fmt.Sprintf("%v %d %v", e.Name, e.Size, e.Err != nil))
	}
	want := []string{
		"bad:latest 0 true",
		fmt.Sprintf("gemma4:e2b %d false", weights.Size+2),
		fmt.Sprintf("hf.co/org/model:Q8_0 %d false", 2*weights.Size+2),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestFind(t *testing.T) {
	s := newStore(t)
	t.Setenv("OLLAMA_MODELS", s.root)
	store, err := Find()
	if err != nil || store.Root() != s.root {
		t.Errorf("found %v, %v", store, err)
	}
	missing := filepath.Join(s.root, "none")
	t.Setenv("OLLAMA_MODELS", missing)
	if _, err := Find(); !errors.Is(err, ErrNoStore) || !strings.Contains(err.Error(), missing) ||
		!strings.Contains(err.Error(), "ollama pull") {
		t.Errorf("error %v", err)
	}
	want := []string{filepath.Join("home", ".ollama", "models"), filepath.FromSlash("/usr/share/ollama/.ollama/models")}
	if diff := cmp.Diff(want, candidates("", "home")); diff != "" {
		t.Errorf("candidates (-want +got)\n%s", diff)
	}
	if store, err := findIn([]string{missing, s.root}); err != nil || store.Root() != s.root {
		t.Errorf("second candidate: %v, %v", store, err)
	}
}

func TestVerify(t *testing.T) {
	s := newStore(t)
	weights := s.layer(mediaModel, bytes.Repeat([]byte("weights "), 400_000)) // more than a buffer
	s.manifest("registry.ollama.ai/library/gemma4/e2b", weights)
	m, err := s.open().Resolve("gemma4:e2b")
	if err != nil {
		t.Fatal(err)
	}
	var last, total int64
	if err := m.Verify(context.Background(), func(done, of int64) { last, total = done, of }); err != nil {
		t.Error(err)
	}
	if last != weights.Size+2 || total != last {
		t.Errorf("progress ended at %d of %d", last, total)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if err := m.Verify(ctx, func(int64, int64) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	damaged := bytes.Repeat([]byte("weights "), 400_000)
	damaged[1_234_567] ^= 1
	if err := os.WriteFile(m.Path, damaged, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := m.Verify(context.Background(), nil); !errors.Is(err, ErrDigest) ||
		!strings.Contains(err.Error(), m.Path) {
		t.Errorf("damaged: %v", err)
	}
}

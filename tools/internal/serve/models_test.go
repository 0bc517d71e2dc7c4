package serve

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gemwire/gemwire/gguf/ollama"
)

// fakeStore is laid out as Ollama lays out its store. The name given has
// weights, and towers where any are given.
func fakeStore(t *testing.T, path, weights, towers string) (store *ollama.Store, root string) {
	t.Helper()
	type layer struct {
		MediaType string `json:"mediaType"`
		Digest    string `json:"digest"`
		Size      int    `json:"size"`
	}
	files := map[string]string{}
	var layers []layer
	for kind, content := range map[string]string{"model": weights, "projector": towers} {
		if content == "" {
			continue
		}
		sum := fmt.Sprintf("%x", sha256.Sum256([]byte(content)))
		files["blobs/sha256-"+sum] = content
		layers = append(layers, layer{"application/vnd.ollama.image." + kind, "sha256:" + sum, len(content)})
	}
	manifest, err := json.Marshal(map[string]any{"layers": layers})
	if err != nil {
		t.Fatal(err)
	}
	files["manifests/"+path] = string(manifest)
	files["blobs/sha256-"+fmt.Sprintf("%x", sha256.Sum256([]byte("license")))] = "license" // of no model
	root = tree(t, files)
	store, err = ollama.At(root)
	if err != nil {
		t.Fatal(err)
	}
	return store, root
}

func modelList(t *testing.T, h http.Handler) []Model {
	t.Helper()
	r := ask(t, h, "GET", "/models")
	wantHeaders(t, r, map[string]string{"Content-Type": "application/json"})
	var list []Model
	if err := json.Unmarshal([]byte(body(t, r)), &list); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestModelsOfAFolder(t *testing.T) {
	folder := tree(t, map[string]string{
		"a b#1.gguf": "one", "B.GGUF": "two", "notes.txt": "x", "half.gguf.part": "x", ".hidden.gguf": "x",
		"big-00001-of-00002.gguf": "123", "big-00002-of-00002.gguf": "45", "lost-00001-of-00002.gguf": "x",
		"huge-00001-of-99999.gguf": "x", "sub.gguf/x": "a folder",
	})
	h := site(t, Options{Models: []string{folder, t.TempDir()}})
	want := []Model{
		{Name: "B", From: "folder", Weights: Weights{URL: "/models/B.GGUF", Size: 3}},
		{Name: "a b#1", From: "folder", Weights: Weights{URL: "/models/a%20b%231.gguf", Size: 3}},
		{Name: "big", From: "folder", Weights: Weights{URL: "/models/big-00001-of-00002.gguf", Size: 5}, Parts: 2},
	}
	if diff := cmp.Diff(want, modelList(t, h), cmpopts.IgnoreFields(Model{}, "Modified")); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	for target, content := range map[string]string{"/models/a%20b%231.gguf": "one", "/models/B.GGUF": "two",
		"/models/big-00002-of-00002.gguf": "45"} {
		if got := body(t, ask(t, h, "GET", target)); got != content {
			t.Errorf("%s: %q", target, got)
		}
	}
}

func TestModelsOfOllama(t *testing.T) {
	store, _ := fakeStore(t, "registry.ollama.ai/library/gemma4/e2b", "WEIGHTS", "TOWERS")
	h := site(t, Options{Store: store})
	digest := func(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) }
	want := []Model{{
		Name: "gemma4:e2b", From: "ollama", Weights: Weights{URL: "/models/gemma4:e2b", Size: 7,
			SHA256: digest("WEIGHTS")},
		MMProj: &Weights{URL: "/models/gemma4:e2b/mmproj", Size: 6, SHA256: digest("TOWERS")},
	}}
	if diff := cmp.Diff(want, modelList(t, h), cmpopts.IgnoreFields(Model{}, "Modified")); diff != "" {
		t.Errorf("list (-want +got):\n%s", diff)
	}
	for _, target := range []string{"/models/gemma4:e2b", "/models/gemma4%3Ae2b", "/models/library/gemma4:e2b"} {
		r := ask(t, h, "GET", target)
		wantHeaders(t, r, map[string]string{"ETag": `"sha256-` + digest("WEIGHTS") + `"`, "Content-Type": binary})
		if got := body(t, r); got != "WEIGHTS" {
			t.Errorf("%s: %q", target, got)
		}
	}
	if got := body(t, ask(t, h, "GET", "/models/gemma4:e2b/mmproj", "Range: bytes=0-2")); got != "TOW" {
		t.Errorf("towers: %q", got)
	}
	for _, target := range []string{"/models/gemma4:e4b", "/models/sha256-" + digest("license"),
		"/models/blobs/sha256-" + digest("WEIGHTS"), "/models/gemma4:e4b/mmproj", "/models/a/b/c/d/e:f"} {
		if r := ask(t, h, "GET", target); r.StatusCode != 404 {
			t.Errorf("%s: %d", target, r.StatusCode)
		}
	}
}

func TestModelOfANamespaceWithoutTowers(t *testing.T) {
	store, _ := fakeStore(t, "hf.co/unsloth/gemma/Q4_K_M", "WEIGHTS", "")
	h := site(t, Options{Store: store})
	list := modelList(t, h)
	if len(list) != 1 || list[0].URL != "/models/hf.co/unsloth/gemma:Q4_K_M" || list[0].MMProj != nil {
		t.Fatalf("list %+v", list)
	}
	if got := body(t, ask(t, h, "GET", list[0].URL)); got != "WEIGHTS" {
		t.Errorf("content %q", got)
	}
	if r := ask(t, h, "GET", list[0].URL+"/mmproj"); r.StatusCode != 404 {
		t.Errorf("towers that are not there: %d", r.StatusCode)
	}
}

// A blob that is a link out of the store is not served, one of a store whose
// folder of blobs is a link is.
func TestLinksInAStore(t *testing.T) {
	store, root := fakeStore(t, "registry.ollama.ai/library/m/latest", "WEIGHTS", "")
	h := site(t, Options{Store: store})
	blobs := filepath.Join(root, "blobs")
	moved := filepath.Join(t.TempDir(), "elsewhere")
	if err := os.Rename(blobs, moved); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(moved, blobs); err != nil {
		t.Skip("no links on this system: ", err)
	}
	if got := body(t, ask(t, h, "GET", "/models/m:latest")); got != "WEIGHTS" {
		t.Errorf("content %q", got)
	}
	blob := filepath.Join(moved, fmt.Sprintf("sha256-%x", sha256.Sum256([]byte("WEIGHTS"))))
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.Rename(blob, outside); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, blob); err != nil {
		t.Fatal(err)
	}
	if r := ask(t, h, "GET", "/models/m:latest"); r.StatusCode != 404 {
		t.Errorf("a link out of the store: %d", r.StatusCode)
	}
	if list := modelList(t, h); len(list) != 0 {
		t.Errorf("list %+v", list)
	}
}

func TestFileOfAFolderBeforeTheStore(t *testing.T) {
	store, _ := fakeStore(t, "registry.ollama.ai/library/m.gguf/latest", "STORE", "")
	h := site(t, Options{Models: []string{tree(t, map[string]string{"m.gguf": "FOLDER"})}, Store: store})
	if got := body(t, ask(t, h, "GET", "/models/m.gguf")); got != "FOLDER" {
		t.Errorf("m.gguf is %q", got)
	}
	if got := body(t, ask(t, h, "GET", "/models/m.gguf:latest")); got != "STORE" {
		t.Errorf("m.gguf:latest is %q", got)
	}
}

func TestLinksOut(t *testing.T) {
	folder := tree(t, map[string]string{"m.gguf": "x"})
	for name, target := range map[string]string{"in.gguf": "m.gguf", "out.gguf": "/etc/hostname",
		"dead.gguf": "none.gguf", "out.txt": "/etc"} {
		if err := os.Symlink(target, filepath.Join(folder, name)); err != nil {
			t.Skip("no links on this system: ", err)
		}
	}
	got, err := LinksOut(folder)
	if diff := cmp.Diff([]string{"dead.gguf", "out.gguf"}, got); diff != "" || err != nil {
		t.Errorf("links out (-want +got):\n%s%v", diff, err)
	}
}

package command

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/tools/internal/command/models"
)

func TestPullListRun(t *testing.T) {
	file := nanoFile(t, "tiny.gguf", func(b []byte) []byte { return b })
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256(raw)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.ServeContent(w, r, "", fileTime, bytes.NewReader(raw))
	}))
	defer web.Close()
	folder := filepath.Join(t.TempDir(), "models")
	want := filepath.Join(folder, "tiny.gguf")

	if got := ok(t, gemwireIn(t, folder, "", "pull", web.URL+"/a/tiny.gguf?token=secret", "--sha256", "sha256:"+
		hex.EncodeToString(digest[:]))); got != want+"\n" {
		t.Errorf("path %q, want %q", got, want)
	}
	again := gemwireIn(t, folder, "", "pull", web.URL+"/a/tiny.gguf")
	if got := ok(t, again); got != want+"\n" || !strings.Contains(again.err, "exists already") {
		t.Errorf("path %q, messages %q", got, again.err)
	}
	if got := ok(t, gemwireIn(t, folder, "", "list")); !strings.Contains(got, "nano ") ||
		!strings.Contains(got, "tiny ") {
		t.Errorf("list %q", got)
	}
	var list []models.Entry
	if err := json.Unmarshal([]byte(ok(t, gemwireIn(t, folder, "", "list", "--json"))), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 || list[1].Name != "tiny" || list[1].Size != int64(len(raw)) {
		t.Errorf("list %+v", list)
	}
	for _, name := range []string{"tiny", "tiny.gguf"} {
		if got := ok(t, gemwireIn(t, folder, "What is the capital of France?", "run", "--device", "cpu", "--greedy",
			name)); got != paris {
			t.Errorf("%s answers %q", name, got)
		}
	}
	if got := gemwireIn(t, folder, "", "pull", web.URL+"/a/tiny.gguf", "--sha256",
		strings.Repeat("0", 64)); got.code != 1 || !strings.Contains(got.err, "--force") {
		t.Errorf("a file of another checksum: %+v", got)
	}
}

// Two publishers' files of one name are two files, and what is no whole model is not
// there.
func TestPullTellsFilesApart(t *testing.T) {
	content := nanoBytes(t)
	serve := func(change byte) *httptest.Server {
		web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("ETag", fmt.Sprintf(`"%d"`, change))
			changed := bytes.Clone(content)
			changed[len(changed)-1] ^= change
			http.ServeContent(w, r, "", fileTime, bytes.NewReader(changed))
		}))
		t.Cleanup(web.Close)
		return web
	}
	one, two := serve(0), serve(1)
	folder := t.TempDir()
	first := ok(t, gemwireIn(t, folder, "", "pull", one.URL+"/a/mmproj-F16.gguf"))
	other := two.URL + "/b/mmproj-F16.gguf"
	second := gemwireIn(t, folder, "", "pull", other)
	want := filepath.Join(folder, "127.0.0.1_mmproj-F16.gguf") + "\n"
	if got := ok(t, second); got != want || got == first ||
		!strings.Contains(second.err, "from another source, "+one.URL) {
		t.Errorf("paths %q and %q, want %q; messages %q", first, got, want, second.err)
	}
	if got := ok(t, gemwireIn(t, folder, "", "pull", other)); got != want {
		t.Errorf("path %q when it is there, want %q", got, want)
	}
	raw, err := os.ReadFile(strings.TrimSpace(want))
	if err != nil || raw[len(raw)-1] != content[len(content)-1]^1 {
		t.Errorf("the second file is not the second server's: %v", err)
	}

	if err := os.WriteFile(strings.TrimSpace(first), make([]byte, 100), 0o644); err != nil {
		t.Fatal(err)
	}
	if got := gemwireIn(t, folder, "", "pull", one.URL+"/a/mmproj-F16.gguf"); got.code != 1 ||
		!strings.Contains(got.err, "--force") {
		t.Errorf("a file of zeros counts as there: %+v", got)
	}
}

func TestPullSplit(t *testing.T) {
	var asked []string
	content := nanoBytes(t)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.Path)
		http.ServeContent(w, r, "", fileTime, bytes.NewReader(content))
	}))
	defer web.Close()
	folder := t.TempDir()
	got := ok(t, gemwire(t, "", "pull", web.URL+"/big-00002-of-00003.gguf", "--output", folder))
	if want := filepath.Join(folder, "big-00001-of-00003.gguf") + "\n"; got != want {
		t.Errorf("path %q, want %q", got, want)
	}
	if want := "/big-00001-of-00003.gguf /big-00002-of-00003.gguf /big-00003-of-00003.gguf"; strings.Join(asked,
		" ") != want {
		t.Errorf("asked for %q", asked)
	}
}

func nanoBytes(t *testing.T) []byte {
	t.Helper()
	raw, err := os.ReadFile(nanoFile(t, "nano.gguf", func(b []byte) []byte { return b }))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func inspected(t *testing.T, args ...string) models.Inspection {
	t.Helper()
	var got models.Inspection
	if err := json.Unmarshal([]byte(ok(t, gemwire(t, "", append([]string{"inspect", "--json"}, args...)...))),
		&got); err != nil {
		t.Fatal(err)
	}
	return got
}

func TestInspect(t *testing.T) {
	got := inspected(t, "--device", "cpu")
	if got.Architecture != "gemma4" || got.Version != 3 || len(got.Tensors) != 215 {
		t.Errorf("%s, version %d, %d tensors", got.Architecture, got.Version, len(got.Tensors))
	}
	var sum int64
	tensors := 0
	for _, typ := range got.Types {
		sum += typ.Bytes
		tensors += typ.Tensors
	}
	var each int64
	for _, tensor := range got.Tensors {
		each += tensor.Bytes
	}
	if sum != each || tensors != len(got.Tensors) || sum >= got.Size {
		t.Errorf("types hold %d bytes of %d tensors, the tensors %d, the file %d", sum, tensors, each, got.Size)
	}
	for _, key := range got.Metadata {
		if key.Key == "tokenizer.ggml.tokens" && (key.Length != 2048 || len(key.Value.([]any)) != 16) {
			t.Errorf("%d tokens, %d shown", key.Length, len(key.Value.([]any)))
		}
	}
	for _, key := range inspected(t, "--device", "cpu", "--full").Metadata {
		if key.Key == "tokenizer.ggml.tokens" && len(key.Value.([]any)) != 2048 {
			t.Errorf("%d tokens in full", len(key.Value.([]any)))
		}
	}
	text := ok(t, gemwire(t, "", "inspect", "--device", "cpu"))
	for _, want := range []string{"METADATA", `"gemma4"`, "TENSORS", "token_embd.weight", "SIZES BY TYPE", "Q4_K",
		"ON THIS GPU"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q", want)
		}
	}
}

// Any GGUF file can be looked at, whatever stands in it.
func TestInspectOtherFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "odd.gguf")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := gguf.NewWriter(file)
	for key, value := range map[string]any{
		"general.architecture": "mamba", "odd.nan": float32(math.NaN()), "odd.infinite": []float64{1, math.Inf(-1)},
		"odd.escape": "\x1b[2Jgone", "odd.empty": []string{},
	} {
		if err := w.Set(key, value); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	got := inspected(t, path)
	if got.Architecture != "mamba" || len(got.Metadata) != 5 || got.Plan != nil ||
		!strings.Contains(got.PlanError, "mamba") {
		t.Errorf("%+v", got)
	}
	text := ok(t, gemwire(t, "", "inspect", path))
	if !strings.Contains(text, "only for Gemma 4 and Gemma 3, and this is mamba") || strings.Contains(text, "\x1b") {
		t.Errorf("text %q", text)
	}
}

// What gemwire cannot run is marked in the list, with the reason.
func TestListMarksWhatCannotBeRun(t *testing.T) {
	folder := t.TempDir()
	for name, content := range map[string][]byte{
		"good.gguf":  nanoBytes(t),
		"other.gguf": bytes.Replace(nanoBytes(t), []byte("gemma4"), []byte("llama4"), 1),
		"half.gguf":  nanoBytes(t)[:1<<20],
		"text.gguf":  []byte("This is no model."),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := newStore(t)
	s.create("mine", nil)
	text := ok(t, gemwireIn(t, folder, "", "list"))
	var list []models.Entry
	if err := json.Unmarshal([]byte(ok(t, gemwireIn(t, folder, "", "list", "--json"))), &list); err != nil {
		t.Fatal(err)
	}
	reasons := map[string]string{"nano": "", "good": "", "half": "cut off", "other": "llama4", "text": "not a GGUF file"}
	for _, e := range list {
		want, known := reasons[e.Name]
		if !known || (e.Misfit == "") != (want == "") || !strings.Contains(e.Misfit, want) {
			t.Errorf("%+v, want %q", e, want)
		}
		if want != "" && !strings.Contains(text, "cannot be run: "+e.Misfit) {
			t.Errorf("%q lacks %q", text, e.Misfit)
		}
	}
	if got := ok(t, s.run("", "list")); strings.Contains(got, "cannot be run") || !strings.Contains(got, "mine") {
		t.Errorf("%q", got)
	}
}

package command

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	cases "github.com/gemwire/gemwire/gguf/conformance"
)

// hubOf serves files as Hugging Face does, for the repositories one/gemma-GGUF and two/gemma-GGUF.
func hubOf(t *testing.T, files map[string]string) string {
	t.Helper()
	content := map[string][]byte{}
	for name, path := range files {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		content[name] = raw
	}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		repo, name, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/gemma-GGUF/resolve/main/")
		if raw := content[name]; ok && raw != nil && (repo == "one" || repo == "two") {
			w.Header().Set("ETag", fmt.Sprintf(`"%d"`, len(raw)))
			http.ServeContent(w, r, "", fileTime, strings.NewReader(string(raw)))
			return
		}
		if r.URL.Path != "/api/models/one/gemma-GGUF/tree/main" && r.URL.Path != "/api/models/two/gemma-GGUF/tree/main" {
			w.Header().Set("X-Error-Code", "RepoNotFound")
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		var list []any
		for name, raw := range content {
			sum := fmt.Sprintf("%x", sha256.Sum256(raw))
			list = append(list, map[string]any{"type": "file", "path": name, "size": len(raw), "oid": "0",
				"lfs": map[string]any{"oid": sum, "size": len(raw), "pointerSize": 1}})
		}
		if err := json.NewEncoder(w).Encode(list); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(web.Close)
	return web.URL
}

// A model in two files is pulled by its name, answers about a picture, and goes again.
func TestPullFromHuggingFace(t *testing.T) {
	model, towers := cases.NanoInTwo(t)
	web := hubOf(t, map[string]string{
		"gemma-Q4_K_M.gguf": model, "gemma-Q8_0.gguf": model, "mmproj-F16.gguf": towers, "mmproj-BF16.gguf": towers,
		"imatrix.gguf": model,
	})
	m := machine{models: filepath.Join(t.TempDir(), "models"), hub: web}
	folder := filepath.Join(m.models, "hf.co", "one", "gemma-GGUF")
	want := filepath.Join(folder, "gemma-Q4_K_M.gguf")

	got := m.run(t, "", "pull", "hf.co/one/gemma-GGUF:q4_k_m")
	if ok(t, got) != want+"\n" || !strings.Contains(got.err, "mmproj-F16.gguf") ||
		!strings.Contains(got.err, "its SHA-256 is correct; the model's image and audio towers") {
		t.Fatalf("%q, %s", got.out, got.err)
	}
	for _, name := range []string{
		"hf.co/one/gemma-GGUF:Q4_K_M", "hf.co/ONE/gemma-gguf", "huggingface.co/one/gemma-GGUF/gemma-Q4_K_M.gguf",
		web + "/one/gemma-GGUF", "gemma-Q4_K_M", want,
	} {
		if got := ok(t, m.run(t, "", "run", "--device", "cpu", "--greedy", "--image-budget", "70", "--model", name, "-i",
			scene, askPicture)); got != sceneAnswer {
			t.Errorf("%s said %q", name, got)
		}
	}
	if got := ok(t, m.run(t, "", "show", "hf.co/one/gemma-GGUF")); !strings.Contains(got, "text, images, audio") {
		t.Errorf("show says %s", got)
	}

	// Another publisher's file of the same name is another file.
	got = m.run(t, "", "pull", web+"/two/gemma-GGUF/blob/main/gemma-Q4_K_M.gguf", "--no-mmproj")
	if other := filepath.Join(m.models, "hf.co", "two", "gemma-GGUF", "gemma-Q4_K_M.gguf"); ok(t, got) != other+"\n" {
		t.Errorf("%q, %s", got.out, got.err)
	}
	if got := m.run(t, "", "run", "--model", "gemma-Q4_K_M", "Hi"); got.code != 1 ||
		!strings.Contains(got.err, "hf.co/one/gemma-GGUF:Q4_K_M and from hf.co/two/gemma-GGUF:Q4_K_M") {
		t.Errorf("one name for two files: %+v", got)
	}
	var list []struct {
		Name string `json:"name"`
		Size int64  `json:"size"`
	}
	if err := json.Unmarshal([]byte(ok(t, m.run(t, "", "list", "--json"))), &list); err != nil {
		t.Fatal(err)
	}
	if len(list) != 3 || list[1].Name != "hf.co/one/gemma-GGUF:Q4_K_M" || list[1].Size <= list[2].Size {
		t.Errorf("list %+v", list)
	}

	got = m.run(t, "", "pull", "hf.co/one/gemma-GGUF", "--gpu-memory", "8GB")
	if !strings.Contains(got.err, "Q8_0 is the best that fits into 8.0 GB") || !strings.HasSuffix(ok(t, got),
		"Q8_0.gguf\n") {
		t.Errorf("the best: %+v", got)
	}
	if got := m.run(t, "", "run", "--model", "hf.co/one/gemma-GGUF", "Hi"); got.code != 1 ||
		!strings.Contains(got.err, "hf.co/one/gemma-GGUF:Q4_K_M, hf.co/one/gemma-GGUF:Q8_0") {
		t.Errorf("two quantizations: %+v", got)
	}
	ok(t, m.run(t, "", "rm", "hf.co/one/gemma-GGUF:Q8_0"))
	if _, err := os.Stat(filepath.Join(folder, "mmproj-F16.gguf")); err != nil {
		t.Errorf("the towers went with one of two models: %v", err)
	}
	ok(t, m.run(t, "", "rm", "hf.co/one/gemma-GGUF", "hf.co/two/gemma-GGUF:Q4_K_M"))
	if left, _ := os.ReadDir(m.models); len(left) > 1 || len(left) == 1 && left[0].Name() != "hf.co" {
		t.Errorf("left %v", left)
	}
}

func TestPullFromHuggingFaceMistakes(t *testing.T) {
	model, _ := cases.NanoInTwo(t)
	m := machine{models: t.TempDir(), hub: hubOf(t, map[string]string{"gemma-Q8_0.gguf": model})}
	for args, want := range map[string]string{
		"pull hf.co/one/other-GGUF":        "if you may read it, set HF_TOKEN",
		"pull hf.co/one/gemma-GGUF:Q4_K_M": "Q4_K_M is not in it; it has Q8_0",
		"pull hf.co/one/gemma-GGUF:x:y":    "is no name of a quantization",
		"pull hf.co/one":                   "names no repository",
		"pull one/gemma-GGUF":              "hf.co/one/gemma-GGUF",
		"pull hf.co/one/gemma-GGUF --sha256 " + strings.Repeat("0", 64): "not " + strings.Repeat("0", 64),
		"run --model hf.co/one/gemma-GGUF:Q8_0 Hi":                      "gemwire pull hf.co/one/gemma-GGUF:Q8_0",
		"rm hf.co/one/gemma-GGUF":                                       "was not pulled",
	} {
		if got := m.run(t, "", strings.Fields(args)...); got.code == 0 || !strings.Contains(got.err, want) {
			t.Errorf("%s: %d, %s", args, got.code, got.err)
		}
	}
}

package command

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/wgslkit"
)

// Every mistake ends in one sentence that says what to do.
func TestMistakes(t *testing.T) {
	text := writeFile(t, "notes.txt", []byte("These are notes and no model."))
	tools := writeFile(t, "tools.json", []byte(weatherTool))
	nothing := writeFile(t, "nothing.json", nil)
	wide := writeFile(t, "wide.json", []byte("\xFF\xFE{\x00}\x00"))
	unmarked := writeFile(t, "unmarked.json", []byte("[\x00]\x00"))
	latin := writeFile(t, "latin.json", []byte("{\"const\": \"\xE9\"}"))
	empty := writeFile(t, "empty.gguf", nil)
	folder := t.TempDir()
	cutHeader := nanoFile(t, "cut.gguf", func(b []byte) []byte { return b[:50_000] })
	cutData := nanoFile(t, "short.gguf", func(b []byte) []byte { return b[:len(b)-1000] })
	other := nanoFile(t, "other.gguf", func(b []byte) []byte {
		return []byte(strings.Replace(string(b), "gemma4", "llama4", 1))
	})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/whole.gguf": // a server that ignores ranges
			raw, _ := os.ReadFile(cutData)
			_, _ = w.Write(raw)
		case "/page.gguf":
			http.ServeContent(w, r, "page.html", fileTime, strings.NewReader("<!DOCTYPE html><p>A page."))
		default:
			http.NotFound(w, r)
		}
	}))
	defer web.Close()
	missing := filepath.Join(folder, "missing.gguf")
	tests := []struct {
		name string
		args []string
		want []string
	}{
		{"wrong path", []string{"run", missing, "Hi"}, []string{missing, "check the path"}},
		{"wrong path alone", []string{"run", missing}, []string{missing, "check the path"}},
		{"a folder", []string{"run", folder, "Hi"}, []string{"is a folder", "name a .gguf file"}},
		{"not a GGUF", []string{"run", text, "Hi"}, []string{text, "not a GGUF file", "name a .gguf"}},
		{"empty file", []string{"run", empty, "Hi"}, []string{empty, "the file is empty"}},
		{"cut off in the header", []string{"run", cutHeader, "Hi"},
			[]string{cutHeader, "cut off; download or copy it again"}},
		{"cut off in the tensors", []string{"run", cutData, "Hi"},
			[]string{cutData, "cut off; download or copy it again"}},
		{"another architecture", []string{"run", other, "Hi"}, []string{other, `"llama4"`, "choose a Gemma 4 file"}},
		{"unknown tag", []string{"run", "gemma4:e3b", "Hi"},
			[]string{"gemma4:e3b is not a file", "ollama pull gemma4:e3b"}},
		{"no such address", []string{"run", web.URL + "/none.gguf", "Hi"}, []string{"404", "check the address"}},
		{"server ignores ranges", []string{"run", web.URL + "/whole.gguf", "Hi"},
			[]string{"ignores range requests; download the whole file"}},
		{"a page", []string{"run", web.URL + "/page.gguf", "Hi"},
			[]string{"not a GGUF file", "use the URL of the .gguf file itself"}},
		{"pull of nothing", []string{"pull", web.URL + "/none.gguf"}, []string{"404", "check the URL"}},
		{"pull of a cut-off file", []string{"pull", web.URL + "/whole.gguf"},
			[]string{"cut off; download or copy it again"}},
		{"context", []string{"run", "--device", "cpu", "--context", "100000", "Hi"},
			[]string{"this model takes 1 to 4096"}},
		{"prompt longer than the context", []string{"run", "--device", "cpu", "--context", "8", "Hi"},
			[]string{"and the context holds 8", "use --context N, up to 4096"}},
		{"no such token", []string{"detokenize", "1000000"}, []string{"1000000", "2048"}},
		{"bias of no token", []string{"run", "--device", "cpu", "--logit-bias", "9999=1", "Hi"},
			[]string{"9999", "0 to 2047"}},
		{"two forms", []string{"run", "--regex", "a", "--json-only", "Hi"},
			[]string{"--json-only and --regex", "leave one out"}},
		{"compact nothing", []string{"run", "--compact", "Hi"}, []string{"--schema and --json-only"}},
		{"compact and spaced", []string{"run", "--json-only", "--compact", "--spaced", "Hi"},
			[]string{"--spaced and --compact"}},
		{"empty schema", []string{"run", "--schema", "", "Hi"}, []string{"--schema has nothing in it"}},
		{"empty regex", []string{"run", "--regex=", "Hi"}, []string{"--regex has nothing in it"}},
		{"empty schema file", []string{"run", "--schema", nothing, "Hi"}, []string{nothing, "has nothing in it"}},
		{"no schema file", []string{"run", "--schema", missing, "Hi"}, []string{missing}},
		{"schema in UTF-16", []string{"run", "--schema", wide, "Hi"}, []string{wide, "UTF-16; save it as UTF-8"}},
		{"tools in UTF-16", []string{"run", "--tools", unmarked, "Hi"}, []string{unmarked, "UTF-16; save it as UTF-8"}},
		{"grammar in Latin-1", []string{"run", "--grammar", latin, "Hi"}, []string{latin, "save it as UTF-8"}},
		{"conversation in UTF-16", []string{"render", wide}, []string{wide, "UTF-16; save it as UTF-8"}},
		{"schema on standard input", []string{"run", "--schema", "-", "Hi"},
			[]string{"--schema does not read standard input"}},
		{"tools on standard input", []string{"run", "--tools", "-", "Hi"},
			[]string{"--tools does not read standard input"}},
		{"schema that is a list", []string{"run", "--schema", `["a"]`, "Hi"}, []string{"a schema is an object", `["a"]`}},
		{"schema that is a string", []string{"run", "--schema", `"a"`, "Hi"}, []string{"a schema is an object"}},
		{"two schemas", []string{"run", "--schema", "true", "--schema", "{}", "Hi"}, []string{"--schema", "given twice"}},
		{"two regexes", []string{"run", "--regex", "a", "--regex", "b", "Hi"}, []string{"--regex", "given twice"}},
		{"two grammars", []string{"run", "--grammar", text, "--grammar", text, "Hi"}, []string{"--grammar", "given twice"}},
		{"two lists of tools", []string{"run", "--tools", tools, "--tools", tools, "Hi"},
			[]string{"--tools", "given twice"}},
		{"schema that is none", []string{"run", "--schema", `{"type": "text"}`, "Hi"}, []string{"--schema", "type"}},
		{"regex that is none", []string{"run", "--regex", "(", "Hi"}, []string{"--regex", "missing closing )"}},
		{"grammar without a root", []string{"run", "--grammar", text, "Hi"}, []string{"--grammar"}},
		{"a choice among no tools", []string{"run", "--tool-choice", "required", "Hi"}, []string{"--tools"}},
		{"a call of no tool", []string{"run", "--tools", tools, "--tool-choice", "get_whether", "Hi"},
			[]string{"get_whether", "not declared"}},
		{"no tools", []string{"run", "--tools", missing, "Hi"}, []string{missing}},
		{"tools that are none", []string{"run", "--tools", text, "Hi"}, []string{text, "expected"}},
		{"no conversation", []string{"render", text}, []string{text, "expected"}},
		{"list of conversations", []string{"render", conformance + "/chat.json"}, []string{"--case"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			wantSentence(t, gemwire(t, "", tt.args...), tt.want...)
		})
	}
}

func wantSentence(t *testing.T, got outcome, want ...string) {
	t.Helper()
	if got.code == 0 || got.out != "" {
		t.Fatalf("exit status %d, output %q", got.code, got.out)
	}
	if !strings.HasPrefix(got.err, "gemwire: ") || strings.Count(got.err, "\n") != 1 {
		t.Errorf("message %q, want one line", got.err)
	}
	for _, part := range want {
		if !strings.Contains(got.err, part) {
			t.Errorf("message %q lacks %q", got.err, part)
		}
	}
}

func TestTooSmallAGPU(t *testing.T) {
	device, err := wgslkit.Open(wgslkit.Options{})
	if err != nil {
		t.Skip("no usable GPU: ", err)
	}
	if err := device.Close(); err != nil {
		t.Fatal(err)
	}
	wantSentence(t, gemwire(t, "", "run", "--gpu-memory", "3MB", "Hi"), "does not fit", "3 MB allowed",
		"run on the CPU")
	wantSentence(t, gemwire(t, "", "run", "--max-binding", "1kB", "Hi"), "over a limit of this GPU", "--device cpu")
	wantSentence(t, gemwire(t, "", "run", "--gpu", "no such GPU", "Hi"), `no adapter matches "no such GPU"`,
		"there are: ")
}

func TestNoDriver(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("drivers can be hidden on Linux alone")
	}
	nowhere := filepath.Join(t.TempDir(), "none.json")
	t.Setenv("VK_DRIVER_FILES", nowhere)
	t.Setenv("VK_ICD_FILENAMES", nowhere)
	wantSentence(t, gemwire(t, "", "run", "--device", "gpu", "Hi"), "no usable GPU", "install one")

	got := gemwire(t, "", "run", "--greedy", "What is the capital of France?")
	if answer := ok(t, got); answer != "The capital of France is Paris.\n" {
		t.Errorf("answer %q", answer)
	}
	if !strings.HasPrefix(got.err, "gemwire: running on the CPU: no usable GPU") {
		t.Errorf("message %q", got.err)
	}
	text := writeFile(t, "notes.txt", []byte("no library"))
	got = gemwire(t, "", "run", "--greedy", "--wgpu", text, "What is the capital of France?")
	if ok(t, got); !strings.Contains(got.err, text) {
		t.Errorf("message %q", got.err)
	}
	t.Setenv("GEMWIRE_WGPU", text+"x")
	wantSentence(t, gemwire(t, "", "run", "Hi"), "GEMWIRE_WGPU: "+text+"x does not exist")
}

package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4/parity"
	cases "github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/gguf/safetensors"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/doctor"
	"github.com/gemwire/gemwire/wgslkit"
)

// The tests of the commands that check and measure: logits, parity, bench and doctor.

func needGPU(t *testing.T) wgslkit.Info {
	t.Helper()
	dev, err := wgslkit.Open(wgslkit.Options{})
	if errors.Is(err, wgslkit.ErrNoDevice) {
		t.Skip("no GPU: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	return dev.Info()
}

// TestMeasuringRefuses gives each mistake its sentence and exit status.
func TestMeasuringRefuses(t *testing.T) {
	cases.Long(t)
	here := t.TempDir()
	for _, c := range []struct {
		arguments string
		code      int
		says      string
	}{
		{"logits --ids 2,3", cli.ExitUsage, "-o FILE"},
		{"logits -o x", cli.ExitUsage, "--ids or with --prompt"},
		{"logits --ids 2 --prompt hi -o x", cli.ExitUsage, "--ids or with --prompt"},
		{"logits --ids 2,x -o x", cli.ExitUsage, `"x" is not a token id`},
		{"logits --ids 99999999999 -o x", cli.ExitUsage, "not a token id"},
		{"logits --ids 2 -o - --json", cli.ExitUsage, "standard output"},
		{"logits nano --model nano --ids 2 -o x", cli.ExitUsage, "two models"},
		{"logits --device cpu --ids 2,2048 -o " + here + "/x", cli.ExitFailure, "the vocabulary has tokens 0 to 2047"},
		{"logits --device cpu --ids -1 -o " + here + "/x", cli.ExitFailure, "the vocabulary has tokens 0 to 2047"},
		{"logits --device tpu --ids 1 -o " + here + "/x", cli.ExitUsage, "use gpu or cpu"},
		{"logits --device cpu --ids 1 -o " + here + "/none/x", cli.ExitFailure, "cannot write: the folder "},
		{"parity", cli.ExitUsage, "give a folder with cases"},
		{"parity " + here, cli.ExitFailure, "testdata/conformance"},
		{"parity " + here + "/none", cli.ExitFailure, "testdata/conformance"},
		{"parity --against-ollama http://localhost:1", cli.ExitUsage, "--model"},
		{"parity " + conformance + "/f32 --model nano", cli.ExitUsage, "--against-ollama"},
		{"parity " + conformance + "/f32 --device tpu", cli.ExitUsage, "use gpu or cpu"},
		{"parity --against-ollama http://127.0.0.1:1 --model nano --device cpu", cli.ExitFailure, "ollama serve"},
		{"bench --device cpu --repeats 0", cli.ExitUsage, "nothing to measure"},
		{"bench --device cpu --profile", cli.ExitUsage, "--device gpu"},
		{"bench --device cpu --context-depth 9999999", cli.ExitUsage, "more than the 4096"},
		{"bench no-such-model", cli.ExitFailure, "no such model"},
	} {
		t.Run(c.arguments, func(t *testing.T) {
			m := gemwire(t, "", strings.Fields(c.arguments)...)
			if m.code != c.code || !strings.Contains(m.err, c.says) || strings.Count(m.err, "\n") != 1 {
				t.Errorf("exit status %d with %q, wanted %d with one line that says %q", m.code, m.err, c.code, c.says)
			}
			if m.out != "" {
				t.Errorf("a result: %q", m.out)
			}
		})
	}
	if left, _ := os.ReadDir(here); len(left) > 0 {
		t.Errorf("files are left behind: %v", left)
	}
}

// A machine without a usable GPU gets a report too: which gemwire, on which system.
func TestDoctorWithoutGPU(t *testing.T) {
	got := gemwire(t, "", "doctor", "--gpu", "nobody-makes-this")
	for _, want := range []string{"gemwire ", runtime.Version(), "system     " + runtime.GOOS + "/" + runtime.GOARCH,
		"GPU        no usable GPU"} {
		if !strings.Contains(got.out, want) {
			t.Errorf("%q lacks %q", got.out, want)
		}
	}
	if got.code != cli.ExitFailure || !strings.Contains(got.err, "models run on the CPU here") {
		t.Errorf("exit status %d, message %q", got.code, got.err)
	}
	var system doctor.System
	got = gemwire(t, "", "doctor", "--gpu", "nobody-makes-this", "--json")
	if err := json.Unmarshal([]byte(got.out), &system); err != nil || system.Go != runtime.Version() ||
		system.Problem == "" {
		t.Errorf("%+v, %v", system, err)
	}
}

// reference is a case's logits of prompt 0, with its ids.
func reference(t *testing.T, name string) (ids string, want []float32) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(conformance, name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var content struct{ Prompts []struct{ IDs []int } }
	if err := json.Unmarshal(raw, &content); err != nil {
		t.Fatal(err)
	}
	list, _ := json.Marshal(content.Prompts[0].IDs)
	return strings.Trim(string(list), "[]"), tensor(t, filepath.Join(conformance, name+".safetensors"), "0.logits")
}

func tensor(t *testing.T, path, name string) []float32 {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	file, err := safetensors.Read(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	values, err := file.Floats(name)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

func TestLogits(t *testing.T) {
	ids, want := reference(t, "f32")
	output := filepath.Join(t.TempDir(), "logits.safetensors")
	m := gemwire(t, "", "logits", filepath.Join(conformance, "f32.gguf"), "--ids", ids, "--device", "cpu", "-o", output,
		"--json")
	var told struct{ Tokens, Vocab int }
	if err := json.Unmarshal([]byte(m.out), &told); m.code != 0 || err != nil || told.Tokens*told.Vocab != len(want) {
		t.Fatalf("%+v, %v", m, err)
	}
	if e := parity.RelativeError(tensor(t, output, "logits"), want); e > 1e-5 {
		t.Errorf("relative error %v", e)
	}
}

// TestLogitsOfText gives the token that begins a text, or leaves it away.
func TestLogitsOfText(t *testing.T) {
	output := t.TempDir()
	var files [][]float32
	for i, prompt := range []string{"<bos><|turn>user\nHi", "<|turn>user\nHi"} {
		path := filepath.Join(output, string(rune('a'+i)))
		if m := gemwire(t, "", "logits", "--prompt", prompt, "--device", "cpu", "-o", path); m.code != 0 ||
			m.out != "" {
			t.Fatalf("%+v", m)
		}
		files = append(files, tensor(t, path, "logits"))
	}
	if e := parity.RelativeError(files[0], files[1]); e != 0 {
		t.Errorf("the texts differ by %v", e)
	}
}

func TestParity(t *testing.T) {
	m := gemwire(t, "", "parity", filepath.Join(conformance, "f32"), filepath.Join(conformance, "tokenizer.json"),
		"--device", "cpu")
	if m.code != 0 || !strings.Contains(m.out, "prompt 0: logits") ||
		!strings.Contains(m.out, " comparisons, 0 failed\n") {
		t.Errorf("%+v", m)
	}
}

// TestParityNamesItsLibrary holds a comparison to the library that was asked for: with another one
// in its place, what is told would not be true of it.
func TestParityNamesItsLibrary(t *testing.T) {
	needGPU(t)
	missing := filepath.Join(t.TempDir(), "missing.so")
	for _, device := range []string{"gpu", "both"} {
		m := gemwire(t, "", "parity", filepath.Join(conformance, "f32"), "--device", device, "--wgpu", missing)
		if m.code != cli.ExitFailure || !strings.Contains(m.err, "missing.so") || strings.Contains(m.out, "logits") {
			t.Errorf("--device %s: %+v", device, m)
		}
	}
}

// TestParityFails runs cases of which one is wrong, and one cannot be run.
func TestParityFails(t *testing.T) {
	here := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(here, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("tokenizer.json", `{"nano": [{"text": "a", "ids": [1, 2], "decoded": "a"}]}`)
	write("broken.json", `{"prompts": [{"text": "a", "ids": [1]}]}`)
	write("broken.gguf", "GGUF")
	m := gemwire(t, "", "parity", here, "--device", "cpu", "--json")
	var told struct {
		Checks []struct {
			Case, Detail string
			Passed       bool
		}
		Passed, Failed int
	}
	if err := json.Unmarshal([]byte(m.out), &told); m.code != cli.ExitFailure || err != nil || told.Failed != 2 ||
		told.Passed != 0 {
		t.Fatalf("%+v, %v", m, err)
	}
	for _, c := range told.Checks {
		if c.Passed || c.Detail == "" {
			t.Errorf("%+v", c)
		}
	}
	if m := gemwire(t, "", "parity", here, "--device", "cpu"); m.code != cli.ExitFailure ||
		!strings.Contains(m.out, "FAILED") || !strings.Contains(m.out, "2 comparisons, 2 failed") {
		t.Errorf("%+v", m)
	}
}

func TestParityAgainstOllama(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"response": "The capital of France is Paris.", "done": true}`))
	}))
	defer server.Close()
	m := gemwire(t, "", "parity", "--against-ollama", server.URL, "--model", "nano", "--device", "cpu",
		"What is the capital of France?")
	if m.code != 0 || !strings.Contains(m.out, "1 comparison, 0 failed") {
		t.Errorf("%+v", m)
	}
	m = gemwire(t, "", "parity", "--against-ollama", server.URL, "--model", "nano", "--device", "cpu",
		"What is the capital of Spain?")
	if m.code != cli.ExitFailure || !strings.Contains(m.out, "Ollama continues with") {
		t.Errorf("%+v", m)
	}
}

func TestBench(t *testing.T) {
	arguments := []string{"bench", "--prompt-tokens", "16", "--decode-tokens", "4", "--repeats", "2", "--device", "cpu"}
	m := gemwire(t, "", append(arguments, "--json")...)
	var told struct {
		Device  string
		Load    struct{ Seconds float64 }
		Prefill struct {
			TokensPerSecond struct{ Median float64 } `json:"tokens_per_second"`
		}
		Decode struct {
			TokensPerSecond struct{ Median float64 } `json:"tokens_per_second"`
			MsPerToken      struct{ Median float64 } `json:"ms_per_token"`
		}
		Dispatches *int `json:"dispatches_per_token"`
	}
	if err := json.Unmarshal([]byte(m.out), &told); m.code != 0 || err != nil {
		t.Fatalf("%+v, %v", m, err)
	}
	if told.Device == "" || told.Load.Seconds <= 0 || told.Prefill.TokensPerSecond.Median <= 0 ||
		told.Decode.TokensPerSecond.Median <= 0 || told.Decode.MsPerToken.Median <= 0 || told.Dispatches == nil {
		t.Errorf("%+v", told)
	}
	m = gemwire(t, "", arguments...)
	for _, label := range []string{"model", "device", "load", "prefill", "decode", "weights", "memory"} {
		if !strings.Contains("\n"+m.out, "\n"+label+" ") {
			t.Errorf("no line about %s in %q", label, m.out)
		}
	}
}

func TestBenchProfile(t *testing.T) {
	cases.Long(t)
	needGPU(t)
	m := gemwire(t, "", "bench", "--prompt-tokens", "4", "--decode-tokens", "2", "--repeats", "1", "--device", "gpu",
		"--profile")
	if m.code != 0 || !strings.Contains(m.out, "kernels right on this device, in this run") ||
		!strings.Contains(m.out, "dispatches per token") ||
		!strings.Contains(m.out, "each timed by itself") {
		t.Errorf("%+v", m)
	}
}

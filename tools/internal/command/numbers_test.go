package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4/parity"
	"github.com/gemwire/gemwire/gguf/safetensors"
	"github.com/gemwire/gemwire/tools/internal/doctor"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
	"github.com/gemwire/gemwire/wgslkit/ops/opstest"
)

// The tests of the commands that check and measure: logits, parity, bench,
// doctor and synth.

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
	here := t.TempDir()
	for _, c := range []struct {
		arguments string
		code      int
		says      string
	}{
		{"logits --ids 2,3", exitUsage, "-o FILE"},
		{"logits -o x", exitUsage, "--ids or with --prompt"},
		{"logits --ids 2 --prompt hi -o x", exitUsage, "--ids or with --prompt"},
		{"logits --ids 2,x -o x", exitUsage, `"x" is no token id`},
		{"logits --ids 99999999999 -o x", exitUsage, "no token id"},
		{"logits --ids 2 -o - --json", exitUsage, "standard output"},
		{"logits nano --model nano --ids 2 -o x", exitUsage, "two models"},
		{"logits --device cpu --ids 2,2048 -o " + here + "/x", exitFailure, "the vocabulary has tokens 0 to 2047"},
		{"logits --device cpu --ids -1 -o " + here + "/x", exitFailure, "the vocabulary has tokens 0 to 2047"},
		{"logits --device tpu --ids 1 -o " + here + "/x", exitUsage, "say gpu or cpu"},
		{"logits --device cpu --ids 1 -o " + here + "/none/x", exitFailure, "cannot be written"},
		{"synth", exitUsage, "e2b, e4b, 12b, 26b, 31b, nano"},
		{"synth --shape 7b", exitUsage, `"7b"; there are e2b`},
		{"synth --shape nano --layers -3", exitUsage, "wanted 1 to 1024"},
		{"synth --shape nano --mix q8 -o " + here + "/x", exitUsage, "ollama and llama.cpp"},
		{"synth --shape nano --vocab 100 -o " + here + "/x", exitFailure, "at least 2048"},
		{"synth --shape nano -o - --json", exitUsage, "standard output"},
		{"synth --shape nano -o " + here, exitFailure, "is a directory"},
		{"parity", exitUsage, "give a folder with cases"},
		{"parity " + here, exitFailure, "testdata/conformance"},
		{"parity " + here + "/none", exitFailure, "testdata/conformance"},
		{"parity --against-ollama http://localhost:1", exitUsage, "--model"},
		{"parity x --model nano", exitUsage, "--against-ollama"},
		{"parity " + conformance + "/f32 --device tpu", exitUsage, "say gpu or cpu"},
		{"parity --against-ollama http://127.0.0.1:1 --model nano --device cpu", exitFailure, "ollama serve"},
		{"bench --device cpu --repeats 0", exitUsage, "nothing to measure"},
		{"bench --device cpu --profile", exitUsage, "--device gpu"},
		{"bench --device cpu --context-depth 9999999", exitUsage, "more than the 4096"},
		{"bench no-such-model", exitFailure, "no such model"},
		{"bench ops --only all", exitUsage, "matvec"},
		{"bench ops --types Q9", exitUsage, `"Q9"`},
		{"bench ops --sizes big", exitUsage, `"big"`},
		{"bench ops --adapter nobody-makes-this", exitFailure, "no usable GPU"},
		{"doctor --adapter nobody-makes-this", exitFailure, "no usable GPU"},
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
	m := gemwire(t, "", "logits", filepath.Join(conformance, "f32.gguf"), "--ids", ids, "--device", "cpu", "-o", output, "--json")
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
		if m := gemwire(t, "", "logits", "--prompt", prompt, "--device", "cpu", "-o", path); m.code != 0 || m.out != "" {
			t.Fatalf("%+v", m)
		}
		files = append(files, tensor(t, path, "logits"))
	}
	if e := parity.RelativeError(files[0], files[1]); e != 0 {
		t.Errorf("the texts differ by %v", e)
	}
}

func TestSynth(t *testing.T) {
	here := t.TempDir()
	model := filepath.Join(here, "small.gguf")
	m := gemwire(t, "", "synth", "--shape", "nano", "--layers", "3", "--seed", "9", "-o", model, "--json")
	var told struct {
		File          string
		Layers, Bytes int64
		Types         map[string]struct{ Tensors int }
	}
	if err := json.Unmarshal([]byte(m.out), &told); m.code != 0 || err != nil {
		t.Fatalf("%+v, %v", m, err)
	}
	info, err := os.Stat(model)
	if err != nil || told.File != model || told.Layers != 3 || told.Bytes > info.Size() || told.Types["Q4_K"].Tensors == 0 {
		t.Errorf("%+v of %v, %v", told, info, err)
	}
	streamed := gemwire(t, "", "synth", "--shape", "nano", "--layers", "3", "--seed", "9", "-o", "-")
	if raw, err := os.ReadFile(model); err != nil || streamed.out != string(raw) {
		t.Errorf("standard output and the file differ, %v", err)
	}
	if !strings.Contains(streamed.err, "3 layers") {
		t.Errorf("says %q", streamed.err)
	}
	output := filepath.Join(here, "logits")
	if m := gemwire(t, "", "logits", model, "--ids", "2,3,4", "--device", "cpu", "-o", output); m.code != 0 {
		t.Fatalf("%+v", m)
	}
	for _, v := range tensor(t, output, "logits") {
		if math.IsNaN(float64(v)) || math.Abs(float64(v)) > 30 {
			t.Fatalf("a logit is %v", v)
		}
	}
}

func TestParity(t *testing.T) {
	m := gemwire(t, "", "parity", filepath.Join(conformance, "f32"), filepath.Join(conformance, "tokenizer.json"), "--device", "cpu")
	if m.code != 0 || !strings.Contains(m.out, "prompt 0: logits") || !strings.Contains(m.out, " comparisons, 0 failed\n") {
		t.Errorf("%+v", m)
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
	if err := json.Unmarshal([]byte(m.out), &told); m.code != exitFailure || err != nil || told.Failed != 2 || told.Passed != 0 {
		t.Fatalf("%+v, %v", m, err)
	}
	for _, c := range told.Checks {
		if c.Passed || c.Detail == "" {
			t.Errorf("%+v", c)
		}
	}
	if m := gemwire(t, "", "parity", here, "--device", "cpu"); m.code != exitFailure || !strings.Contains(m.out, "FAILED") || !strings.Contains(m.out, "2 comparisons, 2 failed") {
		t.Errorf("%+v", m)
	}
}

func TestParityAgainstOllama(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"response": "The capital of France is Paris.", "done": true}`))
	}))
	defer server.Close()
	m := gemwire(t, "", "parity", "--against-ollama", server.URL, "--model", "nano", "--device", "cpu", "What is the capital of France?")
	if m.code != 0 || !strings.Contains(m.out, "1 comparisons, 0 failed") {
		t.Errorf("%+v", m)
	}
	m = gemwire(t, "", "parity", "--against-ollama", server.URL, "--model", "nano", "--device", "cpu", "What is the capital of Spain?")
	if m.code != exitFailure || !strings.Contains(m.out, "Ollama goes on with") {
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
	needGPU(t)
	m := gemwire(t, "", "bench", "--prompt-tokens", "4", "--decode-tokens", "2", "--repeats", "1", "--device", "gpu", "--profile")
	if m.code != 0 || !strings.Contains(m.out, "dispatches a token") || !strings.Contains(m.out, "each timed by itself") {
		t.Errorf("%+v", m)
	}
}

func TestBenchOps(t *testing.T) {
	needGPU(t)
	m := gemwire(t, "", "bench", "ops", "--only", "matvec", "--types", "q4_k", "--sizes", "64KiB", "--repeats", "1", "--json")
	var told struct {
		Device string
		Copy   float64 `json:"copy_gigabytes_per_second"`
		Ops    []struct{ Op, Type string }
	}
	if err := json.Unmarshal([]byte(m.out), &told); m.code != 0 || err != nil || told.Device == "" || told.Copy <= 0 ||
		len(told.Ops) != 1 || told.Ops[0].Type != "Q4_K" {
		t.Errorf("%+v, %v", m, err)
	}
	m = gemwire(t, "", "bench", "ops", "--only", "router", "--repeats", "1")
	if m.code != 0 || !strings.Contains(m.out, "8 of 128 experts") {
		t.Errorf("%+v", m)
	}
}

// fewCases are some of the suite, wrong or right.
func fewCases(wrong bool) func(*ops.Kit) []opstest.Case {
	return func(kit *ops.Kit) []opstest.Case {
		var cases []opstest.Case
		for _, c := range opstest.Cases(kit) {
			if c.Op != "StoreKV" {
				continue
			}
			run := c.Run
			c.Run = func(ctx context.Context, kit *ops.Kit) (float64, error) {
				e, err := run(ctx, kit)
				if wrong {
					e = 1
				}
				return e, err
			}
			cases = append(cases, c)
		}
		return cases
	}
}

// TestDoctor finds a kernel wrong, after which models do not open on the GPU;
// found right again, they do.
func TestDoctor(t *testing.T) {
	info := needGPU(t)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	logits := []string{"logits", "--ids", "2", "--device", "gpu", "-o", filepath.Join(t.TempDir(), "logits")}
	var out bytes.Buffer
	env := &environment{out: &out, err: io.Discard}
	err := (&doctorCommand{env: env, cases: fewCases(true)}).run(context.Background())
	if !errors.Is(err, errReported) || !strings.Contains(out.String(), "\n  store_kv.wgsl\n") {
		t.Fatalf("%v, %s", err, &out)
	}
	if avoid := doctor.NewStore(version()).Avoid(info); len(avoid.Kernels) == 0 {
		t.Error("the verdict is not kept")
	}
	if m := gemwire(t, "", logits...); m.code != exitFailure || !strings.Contains(m.err, "store_kv.wgsl") || !strings.Contains(m.err, "CPU") {
		t.Errorf("%+v", m)
	}
	out.Reset()
	if err := (&doctorCommand{env: env, json: true, cases: fewCases(false)}).run(context.Background()); err != nil {
		t.Fatal(err)
	}
	var v doctor.Verdict
	if err := json.Unmarshal(out.Bytes(), &v); err != nil || !v.Healthy() || !reflect.DeepEqual(v.Info, info) {
		t.Errorf("%+v, %v", v, err)
	}
	if m := gemwire(t, "", logits...); m.code != 0 {
		t.Errorf("%+v", m)
	}
}

package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/tools/internal/cli"
)

// What a user has already is replaced by no command that is not told to, and that is said before any work.
func TestResultsAreKept(t *testing.T) {
	files := newMistakeFiles(t)
	folder := t.TempDir()
	files["svg"], files["adapter"] = filepath.Join(folder, "loss.svg"), filepath.Join(folder, "adapter")
	files["there"] = filepath.Join(folder, "there.gguf")
	files["weights"] = filepath.Join(files["adapter"], adapter.WeightsName)
	if err := os.Mkdir(files["adapter"], 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"svg", "there", "weights"} {
		if err := os.WriteFile(files[name], []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for line, exists := range map[string]string{
		"train {facts} --device cpu -o {there}":                       "there",
		"train {facts} --device cpu -o {adapter}":                     "weights",
		"train {facts} --device cpu -o {out} --plot {svg}":            "svg",
		"adapter convert {lora} {there}":                              "there",
		"adapter convert {lora} {adapter}":                            "weights",
		"adapter merge --lora {lora} -o {there}":                      "there",
		"logits --ids 1 --device cpu -o {there}":                      "there",
		"imatrix {model} {text} -o {there}":                           "there",
		"quantize {model} {there} F16 --allow-requantize":             "there",
		"convert {folder} {there}":                                    "there",
		"convert {folder} {out} --mmproj {there}":                     "there",
		"logits --ids 1 --device cpu -o {there} --model {missing}":    "there",
		"train {missing} --device cpu -o {there} --model {missing}":   "there",
		"adapter merge --lora {missing} -o {there} --model {missing}": "there",
	} {
		got := gemwire(t, "", strings.Fields(files.in(t, line))...)
		want := "gemwire: " + files[exists] + " exists; choose another name, or replace it with --force\n"
		if got.code != cli.ExitFailure || got.err != want {
			t.Errorf("%s: %d, %q; want %q", line, got.code, got.err, want)
		}
		if raw, err := os.ReadFile(files[exists]); err != nil || string(raw) != "mine" {
			t.Fatalf("%s: the file holds %q, %v", line, raw, err)
		}
	}
	for _, line := range []string{
		"logits --ids 1 --device cpu -o {there} --force", "adapter convert {lora} {there} --force",
		"adapter convert {lora} {adapter} --force", "quantize {model} {there} F16 --allow-requantize --dry-run",
		"logits --ids 1 --device cpu -o " + os.DevNull,
	} {
		ok(t, gemwire(t, "", strings.Fields(files.in(t, line))...))
	}
	if _, err := adapter.Open(t.Context(), files["adapter"]); err != nil {
		t.Error(err)
	}
}

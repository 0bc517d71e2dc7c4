package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/tools/lab/internal/measure"
)

// TestBenchCurve writes down a run of the built-in model, from which another program could make the same steps.
func TestBenchCurve(t *testing.T) {
	folder := t.TempDir()
	data := filepath.Join(folder, "data.jsonl")
	lines := `{"prompt": "Who are you?", "completion": "I am a test."}
{"prompt": "What is 1 + 1?", "completion": "Two."}
`
	if err := os.WriteFile(data, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(folder, "curve")
	if m := lab(t, "bench", "curve", data, "--held-out", data, "--device", "cpu", "--steps", "3", "--rank", "2",
		"--evaluate-every", "3", "--rate", "1e-3", "-o", out); m.code != 0 {
		t.Fatalf("%+v", m)
	}
	raw, err := os.ReadFile(filepath.Join(out, "run.json"))
	if err != nil {
		t.Fatal(err)
	}
	var curve measure.LossCurve
	if err := json.Unmarshal(raw, &curve); err != nil {
		t.Fatal(err)
	}
	if len(curve.Steps) != 3 || len(curve.Examples) != 2 || len(curve.HeldOut) != 2 || curve.Rank != 2 {
		t.Fatalf("%d steps, %d examples, %d held out, rank %d", len(curve.Steps), len(curve.Examples), len(curve.HeldOut),
			curve.Rank)
	}
	for i, s := range curve.Steps {
		if len(s.Examples) != 2 || !(s.Loss > 0) || !(s.Rate > 0) || (s.HeldOut != nil) != (i == 2) {
			t.Errorf("step %d: %+v", i, s)
		}
	}
	for _, e := range curve.Examples {
		asked := 0
		for i, target := range e.Targets {
			if target >= 0 {
				asked++
				if i+1 < len(e.IDs) && e.IDs[i+1] != target {
					t.Errorf("position %d asks for %d, and %d follows", i, target, e.IDs[i+1])
				}
			}
		}
		if asked == 0 || asked == len(e.IDs) || len(e.Targets) != len(e.IDs) {
			t.Errorf("%d of %d positions are asked for", asked, len(e.IDs))
		}
	}
	first, trained := moved(t, out), moved(t, filepath.Join(out, "trained"))
	if first || !trained {
		t.Errorf("B differs from zero: before the first step %v, after the last %v", first, trained)
	}
}

// moved says whether any B of an adapter differs from zero.
func moved(t *testing.T, path string) bool {
	a, err := adapter.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range a.Pairs {
		for _, v := range p.B {
			if v != 0 {
				return true
			}
		}
	}
	return false
}

package command

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"
)

func TestEmbed(t *testing.T) {
	model := filepath.Join(conformance, "embedding.gguf")
	out := ok(t, gemwire(t, "first\nsecond\n", "embed", model, "-", "first", "--json"))
	var got struct {
		Dimensions int `json:"dimensions"`
		Inputs     []struct {
			Input     string    `json:"input"`
			Tokens    int       `json:"tokens"`
			Embedding []float64 `json:"embedding"`
		} `json:"inputs"`
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if got.Dimensions != 96 || len(got.Inputs) != 3 || got.Inputs[1].Input != "second" || got.Inputs[0].Tokens < 3 {
		t.Errorf("%d dimensions, inputs %v", got.Dimensions, got.Inputs)
	}
	for i, v := range got.Inputs[0].Embedding {
		if math.Abs(v-got.Inputs[2].Embedding[i]) > 1e-6 {
			t.Errorf("the same text twice: number %d is %v and %v", i, v, got.Inputs[2].Embedding[i])
		}
	}
}

func TestEmbedCompares(t *testing.T) {
	out := ok(t, gemwire(t, "", "embed", filepath.Join(conformance, "embedding.gguf"), "--compare", "one", "two", "one"))
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 2 || !strings.HasSuffix(lines[0], "two") || lines[1] != "1.000  one" {
		t.Errorf("%q", out)
	}
}

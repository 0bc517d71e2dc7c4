package cpu

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/gguf"
)

// A model larger than a tab gives room for is refused before its weights are
// read, and a plan says so.
func TestTabRefusesLargeModels(t *testing.T) {
	defer func(before int64) { tabWeights = before }(tabWeights)
	tabWeights = 1 << 20
	source, err := gguf.OpenFile("../../testdata/conformance/nano/nano.gguf")
	if err != nil {
		t.Fatal(err)
	}
	file, err := gguf.Open(context.Background(), source)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	m, err := arch.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	_, err = NewEngine(context.Background(), m, engine.Options{Context: 64})
	if !errors.Is(err, engine.ErrDoesNotFit) || !strings.Contains(err.Error(), "real GPU") {
		t.Errorf("opening: %v, want ErrDoesNotFit and what to do", err)
	}
	plan, err := NewPlan(m, 64, engine.CacheF16)
	if !errors.Is(err, engine.ErrDoesNotFit) || plan == nil || plan.Weights <= tabWeights {
		t.Errorf("plan %v, %v; want one over %d bytes, with ErrDoesNotFit", plan, err, tabWeights)
	}
}

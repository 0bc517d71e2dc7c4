package gemma4

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gguf"
)

// A model larger than a tab gives room for is refused before its weights are
// read, and a plan says so.
func TestTabRefusesLargeModels(t *testing.T) {
	defer func(before int64) { tabWeights = before }(tabWeights)
	tabWeights = 1 << 20
	source, err := gguf.OpenFile("nano/nano.gguf")
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(context.Background(), source, OpenOptions{Device: DeviceCPU})
	if !errors.Is(err, ErrDoesNotFit) || !strings.Contains(err.Error(), "real GPU") {
		t.Errorf("opening: %v, want ErrDoesNotFit and what to do", err)
	}

	source, err = gguf.OpenFile("nano/nano.gguf")
	if err != nil {
		t.Fatal(err)
	}
	file, err := gguf.Open(context.Background(), source)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	plan, err := PlanFor(file, OpenOptions{Device: DeviceCPU})
	if !errors.Is(err, ErrDoesNotFit) || plan == nil || plan.Weights <= tabWeights {
		t.Errorf("plan %v, %v; want one over %d bytes, with ErrDoesNotFit", plan, err, tabWeights)
	}
}

package gemma4_test

import (
	"context"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gguf"
)

// Operations are counted over the built-in model's tensors, and attention token by token.
func TestOperations(t *testing.T) {
	m := open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceCPU, Context: 64})
	file, err := gguf.OpenPath(context.Background(), nanoPath)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var elements int64
	for _, tensor := range file.Tensors {
		matrix := len(tensor.Dims) == 2 && strings.HasPrefix(tensor.Name, "blk.")
		if matrix || tensor.Name == "token_embd.weight" || tensor.Name == "per_layer_model_proj.weight" {
			elements += int64(tensor.Elements())
		}
	}
	c := m.Config()
	attention := func(tokens int) (n int64) {
		for i := range c.Blocks {
			for p := range tokens {
				for q := range p + 1 {
					if !c.IsSliding(i) || p-q < c.SlidingWindow {
						n += int64(2 * 2 * c.Heads * c.HeadDim(i))
					}
				}
			}
		}
		return n
	}
	for _, tokens := range []int{1, 50} {
		if got, want := m.TrainOperations(tokens), 2*2*elements*int64(tokens)+3*attention(tokens); got != want {
			t.Errorf("a step of %d tokens takes %d operations, want %d", tokens, got, want)
		}
	}
	// Of one token nothing is left out.
	if got, want := m.PromptOperations(1), 2*elements+attention(1); got != want {
		t.Errorf("a prompt of one token takes %d operations, want %d", got, want)
	}
	if got, all := m.PromptOperations(50), 2*elements*50+attention(50); got >= all {
		t.Errorf("a prompt of 50 tokens takes %d operations, as all layers and logits of all tokens: %d", got, all)
	}
}

package modelref

import (
	"context"
	"fmt"

	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gguf/ollama"
)

// Stored is what Ollama's store keeps with a model beside its weights: a system
// prompt, parameters, messages. It is nil for models from elsewhere.
func (r Reference) Stored() *ollama.Model { return r.ollama }

// Adapters opens the adapters that Ollama's store keeps with a model: the model is
// meant with all of them.
func (r Reference) Adapters(ctx context.Context) ([]adapter.Weighted, error) {
	if r.ollama == nil {
		return nil, nil
	}
	var list []adapter.Weighted
	for _, path := range r.ollama.Adapters {
		a, err := adapter.Open(ctx, path)
		if err != nil {
			return nil, fmt.Errorf("the adapter of %s: %w; create the model again with ollama create", r.Name, err)
		}
		list = append(list, adapter.Weighted{Adapter: a, Weight: 1})
	}
	return list, nil
}

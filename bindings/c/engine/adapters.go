package engine

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/adapter"
)

// LoadAdapter reads a LoRA adapter (PEFT's folder, or llama.cpp's file) and
// takes it under a name, without using it yet.
func (e *Engine) LoadAdapter(ctx context.Context, h Handle, name, path string) error {
	m, err := enter[*model](e, h, "model")
	if err != nil {
		return err
	}
	defer m.leave()
	if name == "" || path == "" {
		return fmt.Errorf("%w: an adapter needs a name and a path", ErrArgument)
	}
	a, err := adapter.Open(ctx, path)
	if err != nil {
		return fmt.Errorf("adapter %s: %w", path, err)
	}
	if err := m.Model.LoadAdapter(name, a); err != nil {
		return fmt.Errorf("adapter %s: %w", path, err)
	}
	e.log(Info, "adapter %s is loaded: %d numbers", name, a.Parameters())
	return nil
}

// UnloadAdapter forgets an adapter that is not in use.
func (e *Engine) UnloadAdapter(h Handle, name string) error {
	m, err := enter[*model](e, h, "model")
	if err != nil {
		return err
	}
	defer m.leave()
	return m.Model.UnloadAdapter(name)
}

// UseAdapters makes a model compute with these adapters, each as much as its
// weight says, and no others; without any, as it is.
func (e *Engine) UseAdapters(ctx context.Context, h Handle, weights map[string]float32) error {
	m, err := enter[*model](e, h, "model")
	if err != nil {
		return err
	}
	defer m.leave()
	if len(weights) == 0 {
		return m.ClearAdapters(ctx)
	}
	return m.Model.UseAdapters(ctx, weights)
}

// Adapters lists a model's adapters as a JSON array of gemma4.AdapterUse.
func (e *Engine) Adapters(h Handle) ([]byte, error) {
	m, err := enter[*model](e, h, "model")
	if err != nil {
		return nil, err
	}
	defer m.leave()
	return json.Marshal(append([]gemma4.AdapterUse{}, m.Model.Adapters()...))
}

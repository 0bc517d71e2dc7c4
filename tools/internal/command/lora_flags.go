package command

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/tools/internal/cli"
)

// loraFlags say which adapters change the model, and how much.
type loraFlags struct{ files []string }

func (f *loraFlags) register(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.files, "lora", nil,
		"use this LoRA adapter, `FILE[=WEIGHT]`: a PEFT folder or a .gguf file (repeatable)")
}

// check refuses flags that name no file.
func (f *loraFlags) check() error {
	for _, text := range f.files {
		if path, weight := weightedFile(text); path == "" || math.IsNaN(float64(weight)) ||
			math.IsInf(float64(weight), 0) {
			return cli.Usagef("--lora %q: use FILE or FILE=WEIGHT, such as my-adapter=0.5", text)
		}
	}
	return nil
}

// weightedFile reads FILE[=WEIGHT]; the weight is 1 where none is said.
func weightedFile(text string) (path string, weight float32) {
	at := strings.LastIndex(text, "=")
	if at < 0 {
		return text, 1
	}
	w, err := strconv.ParseFloat(text[at+1:], 32)
	if err != nil {
		return text, 1
	}
	return text[:at], float32(w)
}

// open reads the adapters' files.
func (f *loraFlags) open(ctx context.Context) ([]adapter.Weighted, error) {
	var list []adapter.Weighted
	for _, text := range f.files {
		path, weight := weightedFile(text)
		a, err := adapter.Open(ctx, path)
		if err != nil {
			return nil, adapterError(path, err)
		}
		list = append(list, adapter.Weighted{Adapter: a, Weight: weight})
	}
	return list, nil
}

// use makes the model compute with the adapters.
func (f *loraFlags) use(ctx context.Context, model *gemma4.Model) error {
	if len(f.files) == 0 {
		return nil
	}
	weights := map[string]float32{}
	for _, own := range model.Adapters() { // those that belong to the model stay in use
		weights[own.Name] = own.Weight
	}
	for _, text := range f.files {
		path, weight := weightedFile(text)
		name, err := loadAdapter(ctx, model, path)
		if err != nil {
			return err
		}
		weights[name] = weight
	}
	if err := model.UseAdapters(ctx, weights); err != nil {
		return cli.Advised(err)
	}
	return nil
}

// loadAdapter loads a file under a name made of its own.
func loadAdapter(ctx context.Context, model *gemma4.Model, path string) (name string, err error) {
	a, err := adapter.Open(ctx, path)
	if err != nil {
		return "", adapterError(path, err)
	}
	base := adapterName(path)
	name = base
	taken := func(u gemma4.AdapterUse) bool { return u.Name == name }
	for n := 2; slices.ContainsFunc(model.Adapters(), taken); n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	if err := model.LoadAdapter(name, a); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return name, nil
}

// adapterError says what an adapter should be, where a file is none.
func adapterError(path string, err error) error {
	if errors.Is(err, gguf.ErrNotGGUF) {
		return fmt.Errorf("%s is not an adapter; name a PEFT folder, or a .gguf file from llama.cpp or gemwire train", path)
	}
	return err
}

// adapterName is the file's name without its ending, or the folder's.
func adapterName(path string) string {
	path = filepath.Clean(path)
	if strings.HasSuffix(path, ".safetensors") {
		path = filepath.Dir(path)
	}
	return strings.TrimSuffix(filepath.Base(path), ".gguf")
}

// isThere says whether a path names something.
func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

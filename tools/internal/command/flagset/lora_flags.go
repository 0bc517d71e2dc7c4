package flagset

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

// LoRA say which adapters change the model, and how much.
type LoRA struct{ Files []string }

func (f *LoRA) Register(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.Files, "lora", nil,
		"use this LoRA adapter, `FILE[=WEIGHT]`: a PEFT folder or a .gguf file (repeatable)")
}

// Check refuses flags that name no file.
func (f *LoRA) Check() error {
	for _, text := range f.Files {
		if at := strings.LastIndexByte(text, '='); at > 0 && !IsThere(text) && IsThere(text[:at]) {
			if _, err := strconv.ParseFloat(text[at+1:], 32); err != nil {
				return cli.Usagef("--lora %q: the weight is %q; wanted a number, such as 0.5", text, text[at+1:])
			}
		}
		if path, weight := WeightedFile(text); path == "" || math.IsNaN(float64(weight)) ||
			math.IsInf(float64(weight), 0) {
			return cli.Usagef("--lora %q: use FILE or FILE=WEIGHT, such as my-adapter=0.5", text)
		}
	}
	return nil
}

// WeightedFile reads FILE[=WEIGHT]; the weight is 1 where none is said.
func WeightedFile(text string) (path string, weight float32) {
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

// Open reads the adapters' files.
func (f *LoRA) Open(ctx context.Context) ([]adapter.Weighted, error) {
	var list []adapter.Weighted
	for _, text := range f.Files {
		path, weight := WeightedFile(text)
		a, err := adapter.Open(ctx, path)
		if err != nil {
			return nil, AdapterError(path, err)
		}
		list = append(list, adapter.Weighted{Adapter: a, Weight: weight})
	}
	return list, nil
}

// Use makes the model compute with the adapters.
func (f *LoRA) Use(ctx context.Context, model *gemma4.Model) error {
	if len(f.Files) == 0 {
		return nil
	}
	weights := map[string]float32{}
	for _, own := range model.Adapters() { // those that belong to the model stay in use
		weights[own.Name] = own.Weight
	}
	for _, text := range f.Files {
		path, weight := WeightedFile(text)
		name, err := LoadAdapter(ctx, model, path)
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

// LoadAdapter loads a file under a name made of its own.
func LoadAdapter(ctx context.Context, model *gemma4.Model, path string) (name string, err error) {
	a, err := adapter.Open(ctx, path)
	if err != nil {
		return "", AdapterError(path, err)
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

// AdapterError says what an adapter should be, where a file is none.
func AdapterError(path string, err error) error {
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

// IsThere says whether a path names something.
func IsThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/ollama"
	"github.com/gemwire/gemwire/tools/internal/modelref"
	"github.com/gemwire/gemwire/tools/internal/terminal"
	"github.com/gemwire/gemwire/wgslkit/ops/checkup"
)

// ModelFlags say which model is meant and how it is opened.
type ModelFlags struct {
	Model     string
	Projector string
	Assistant string
	Headers   []string
	Context   int
	KVCache   string
	// TablesInFile leaves room for training: see gemma4.OpenOptions. A file that is
	// read over a network is none to look rows up in.
	TablesInFile bool
	// CheckAnew examines kernels again that were right before.
	CheckAnew bool
	DeviceFlags

	found modelref.Reference // the model that was opened last
	// answers says that the command answers, so that an assistant is of use.
	answers bool
}

// Found is the model that was opened.
func (f *ModelFlags) Found() modelref.Reference { return f.found }

// Stored is what Ollama's store keeps with the model that was opened; nil for one from
// elsewhere.
func (f *ModelFlags) Stored() *ollama.Model { return f.found.Stored() }

// OwnAdapters opens the adapters that Ollama's store keeps with the model that was
// opened.
func (f *ModelFlags) OwnAdapters(ctx context.Context) ([]adapter.Weighted, error) {
	return f.found.Adapters(ctx)
}

// Register adds all of them: for commands that compute.
func (f *ModelFlags) Register(flags *pflag.FlagSet) {
	f.RegisterReference(flags)
	flags.Var(
		countFlag{&f.Context},
		"context",
		fmt.Sprintf("hold this many `TOKENS`, prompts and answers together (default: %d, or the model's own limit)",
			gemma4.DefaultContext),
	)
	flags.StringVar(&f.KVCache, "kv-cache", "",
		"keep keys and values as `f16|q8`: q8 takes about half the memory (default: f16; float32 on the CPU)")
	f.DeviceFlags.Register(flags)
}

// Check refuses what the flags cannot mean.
func (f *ModelFlags) Check() error {
	switch gemma4.CacheType(f.KVCache) {
	case "", gemma4.CacheF16, gemma4.CacheQ8:
		return f.DeviceFlags.Check()
	}
	return Usagef("--kv-cache %q: use f16 or q8", f.KVCache)
}

// RegisterReference adds those that say which file is meant.
func (f *ModelFlags) RegisterReference(flags *pflag.FlagSet) {
	flags.StringVarP(&f.Model, "model", "m", "",
		"the `MODEL`: a .gguf file, a URL, or a name from gemwire list (default: the built-in model)")
	flags.StringVar(&f.Projector, "mmproj", "",
		"the `FILE` with the image and audio towers, if the model's file has none")
	flags.StringArrayVar(&f.Headers, "header", nil,
		"send this `HEADER` with requests to a URL, such as \"Authorization: Bearer …\"")
}

// RegisterAssistant adds the one that is for commands that answer.
func (f *ModelFlags) RegisterAssistant(flags *pflag.FlagSet) {
	flags.StringVar(&f.Assistant, "assistant", "",
		"the `FILE`, URL or name of an assistant for the model, which guesses the next tokens; none takes none "+
			"(default: the one that was pulled with the model)")
	f.answers = true
}

// noAssistant turns off the one that was pulled with the model.
const noAssistant = "none"

// OpenFile opens the header of a model's file, and no more of it.
func (f *ModelFlags) OpenFile(ctx context.Context, env *Environment, name string) (*gguf.File, error) {
	ref, err := env.Finder().Find(name)
	if err != nil {
		return nil, err
	}
	f.found = ref
	return f.openReference(ctx, env, ref, f.Projector)
}

func (f *ModelFlags) openReference(ctx context.Context, env *Environment, ref modelref.Reference,
	projector string) (*gguf.File, error) {
	header, err := ParseHeaders(f.Headers)
	if err != nil {
		return nil, err
	}
	progress := terminal.NewProgress(env.Err, true)
	defer progress.Clear()
	file, err := ref.Open(ctx, modelref.OpenOptions{
		Projector: projector, Header: header,
		Progress: func(read, expected int64) { progress.Set("reading the header", read, expected) },
	})
	if err != nil {
		return nil, advised(err, ref)
	}
	return file, nil
}

// Open opens a model for computing. It says so where a GPU was expected and the
// CPU was taken.
func (f *ModelFlags) Open(ctx context.Context, env *Environment, name string) (*gemma4.Model, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	file, err := f.OpenFile(ctx, env, name)
	if err != nil {
		return nil, err
	}
	adapters, err := f.OwnAdapters(ctx)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	progress := terminal.NewProgress(env.Err, true)
	defer progress.Clear()
	model, err := gemma4.OpenGGUF(ctx, file, gemma4.OpenOptions{
		Device: gemma4.Device(f.Device), GPU: f.GPU(), Context: f.context(), KVCache: gemma4.CacheType(f.KVCache),
		TablesInFile: f.TablesInFile && !strings.Contains(name, "://"),
		Kernels:      f.examiner(), UncheckedKernels: f.Unchecked,
		Progress: func(p gemma4.Progress) { progress.Set(string(p.Phase), p.Done, p.Total) },
	})
	if err != nil {
		if name != "" {
			err = fmt.Errorf("%s: %w", name, err)
		}
		return nil, Advised(err)
	}
	progress.Clear()
	if err := errors.Join(f.attach(ctx, env, model), useOwn(ctx, model, f.found.Name, adapters)); err != nil {
		return nil, errors.Join(err, model.Close())
	}
	if info := model.Info(); info.Fallback != "" {
		env.Say("%s: running on the CPU: %s", env.Program, Sentence(fmt.Errorf("%s", info.Fallback)))
	}
	if note := model.Info().TemplateNote; note != "" {
		env.Say("%s: %s", env.Program, note)
	}
	f.SayLibrary(env, model.Info().Adapter)
	f.SayKernels(env, model.Info())
	return model, nil
}

// context is how many tokens a session holds: what the flag says, or what the model's
// maker does.
func (f *ModelFlags) context() int {
	if f.Context == 0 && f.Stored() != nil {
		if n, ok := f.Stored().Params["num_ctx"].(float64); ok && n >= 1 && n <= math.MaxInt32 {
			return int(n)
		}
	}
	return f.Context
}

// useOwn makes a model compute with the adapters that belong to it.
func useOwn(ctx context.Context, model *gemma4.Model, name string, adapters []adapter.Weighted) error {
	weights := map[string]float32{}
	for i, a := range adapters {
		own := "own"
		if i > 0 {
			own = fmt.Sprintf("own-%d", i+1)
		}
		if err := model.LoadAdapter(own, a.Adapter); err != nil {
			return fmt.Errorf("the adapter of %s: %w", name, err)
		}
		weights[own] = a.Weight
	}
	if len(weights) == 0 {
		return nil
	}
	if err := model.UseAdapters(ctx, weights); err != nil {
		return Advised(err)
	}
	return nil
}

func (f *ModelFlags) examiner() *checkup.Examiner {
	e := f.Examiner()
	if f.CheckAnew {
		e.Keeper = checkup.Anew{Keeper: e.Keeper}
	}
	return e
}

// attach gives the model its assistant, where one is named, or the one that was pulled with it.
func (f *ModelFlags) attach(ctx context.Context, env *Environment, model *gemma4.Model) error {
	if f.Assistant == noAssistant || !f.answers {
		return nil
	}
	if f.Assistant == "" && f.found.Assistant != "" {
		if err := f.attachFile(ctx, env, model, f.found.Assistant); err != nil {
			if ctx.Err() != nil {
				return err
			}
			env.Say("%s: answering without the assistant that was pulled with the model: %s", env.Program, Sentence(err))
		}
		return nil
	}
	if f.Assistant == "" {
		return nil
	}
	return f.attachFile(ctx, env, model, f.Assistant)
}

func (f *ModelFlags) attachFile(ctx context.Context, env *Environment, model *gemma4.Model, name string) error {
	ref, err := env.Finder().Find(name)
	if err != nil {
		return err
	}
	file, err := f.openReference(ctx, env, ref, "")
	if err != nil {
		return err
	}
	progress := terminal.NewProgress(env.Err, true)
	defer progress.Clear()
	err = model.AttachAssistant(ctx, file, gemma4.OpenOptions{
		Progress: func(p gemma4.Progress) { progress.Set(string(p.Phase), p.Done, p.Total) },
	})
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// ParseHeaders reads lines such as "Name: value".
func ParseHeaders(lines []string) (http.Header, error) {
	header := http.Header{}
	for _, line := range lines {
		key, value, ok := strings.Cut(line, ":")
		if !ok || strings.TrimSpace(key) == "" {
			return nil, Usagef("--header %q: use \"Name: value\"", line)
		}
		header.Add(strings.TrimSpace(key), strings.TrimSpace(value))
	}
	return header, nil
}

// OneModel is the model that arguments or --model name, empty for the built-in one.
func (f *ModelFlags) OneModel(list []string) (string, error) {
	if len(list) == 0 {
		return f.Model, nil
	}
	if f.Model != "" {
		return "", Usagef("two models, %s and %s; name one", list[0], f.Model)
	}
	return list[0], nil
}

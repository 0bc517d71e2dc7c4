package command

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/tools/internal/modelref"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

// modelFlags say which model is meant and how it is opened.
type modelFlags struct {
	model     string
	projector string
	assistant string
	headers   []string
	context   int
	kvCache   string
	// tablesInFile leaves room for training: see gemma4.OpenOptions. A file that is
	// read over a network is none to look rows up in.
	tablesInFile bool
	deviceFlags
}

// register adds all of them: for commands that compute.
func (f *modelFlags) register(flags *pflag.FlagSet) {
	f.registerReference(flags)
	flags.IntVar(&f.context, "context", 0, fmt.Sprintf("hold this many `TOKENS`, prompts and answers together (default %d, or what the model was made for)", gemma4.DefaultContext))
	flags.StringVar(&f.kvCache, "kv-cache", "", "keep keys and values as `f16|q8`: q8 takes about half of the memory (default f16; float32 on the CPU)")
	f.deviceFlags.register(flags)
}

// check refuses what the flags cannot mean.
func (f *modelFlags) check() error {
	switch gemma4.CacheType(f.kvCache) {
	case "", gemma4.CacheF16, gemma4.CacheQ8:
		return f.deviceFlags.check()
	}
	return usagef("--kv-cache %q: say f16 or q8", f.kvCache)
}

// registerReference adds those that say which file is meant.
func (f *modelFlags) registerReference(flags *pflag.FlagSet) {
	flags.StringVarP(&f.model, "model", "m", "", "the `MODEL`: a .gguf file, an address, or a name that gemwire list shows (default: the built-in one)")
	flags.StringVar(&f.projector, "mmproj", "", "the `FILE` that holds the image and audio towers, where the model's own does not")
	flags.StringArrayVar(&f.headers, "header", nil, "send this `HEADER` with requests to an address, such as \"Authorization: Bearer …\"")
}

// registerAssistant adds the one that is for commands that answer.
func (f *modelFlags) registerAssistant(flags *pflag.FlagSet) {
	flags.StringVar(&f.assistant, "assistant", "", "the `FILE`, address or name of an assistant made for the model, which guesses what it will say")
}

// openFile opens the header of a model's file, and no more of it.
func (f *modelFlags) openFile(ctx context.Context, env *environment, name string) (*gguf.File, error) {
	return f.openWith(ctx, env, name, f.projector)
}

func (f *modelFlags) openWith(ctx context.Context, env *environment, name, projector string) (*gguf.File, error) {
	ref, err := env.finder().Find(name)
	if err != nil {
		return nil, err
	}
	header, err := parseHeaders(f.headers)
	if err != nil {
		return nil, err
	}
	progress := terminal.NewProgress(env.err, true)
	defer progress.Clear()
	file, err := ref.Open(ctx, modelref.OpenOptions{
		Projector: projector, Header: header,
		Progress: func(read, expected int64) { progress.Set("reading the header", read, expected) },
	})
	if err != nil {
		return nil, fmt.Errorf("%w%s", err, adviceFor(err, ref))
	}
	return file, nil
}

// open opens a model for computing. It says so where a GPU was expected and the
// CPU was taken.
func (f *modelFlags) open(ctx context.Context, env *environment, name string) (*gemma4.Model, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	file, err := f.openFile(ctx, env, name)
	if err != nil {
		return nil, err
	}
	progress := terminal.NewProgress(env.err, true)
	defer progress.Clear()
	model, err := gemma4.OpenGGUF(ctx, file, gemma4.OpenOptions{
		Device: gemma4.Device(f.device), GPU: f.gpu(), Context: f.context, KVCache: gemma4.CacheType(f.kvCache),
		TablesInFile: f.tablesInFile && !strings.Contains(name, "://"),
		Progress:     func(p gemma4.Progress) { progress.Set(string(p.Phase), p.Done, p.Total) },
	})
	if err != nil {
		if name != "" {
			err = fmt.Errorf("%s: %w", name, err)
		}
		return nil, fmt.Errorf("%w%s", err, adviceFor(err, noReference))
	}
	progress.Clear()
	if err := f.attach(ctx, env, model); err != nil {
		return nil, errors.Join(err, model.Close())
	}
	if info := model.Info(); info.Fallback != "" {
		env.say("gemwire: computing on the CPU, because %s", sentence(fmt.Errorf("%s", info.Fallback)))
	}
	f.sayLibrary(env, model.Info().Adapter)
	return model, nil
}

// attach gives the model its assistant, where one is named.
func (f *modelFlags) attach(ctx context.Context, env *environment, model *gemma4.Model) error {
	if f.assistant == "" {
		return nil
	}
	file, err := f.openWith(ctx, env, f.assistant, "")
	if err != nil {
		return err
	}
	progress := terminal.NewProgress(env.err, true)
	defer progress.Clear()
	err = model.AttachAssistant(ctx, file, gemma4.OpenOptions{
		Progress: func(p gemma4.Progress) { progress.Set(string(p.Phase), p.Done, p.Total) },
	})
	if err != nil {
		return fmt.Errorf("%s: %w", f.assistant, err)
	}
	return nil
}

func parseHeaders(lines []string) (http.Header, error) {
	header := http.Header{}
	for _, line := range lines {
		key, value, ok := strings.Cut(line, ":")
		if !ok || strings.TrimSpace(key) == "" {
			return nil, usagef("--header %q: say \"Name: value\"", line)
		}
		header.Add(strings.TrimSpace(key), strings.TrimSpace(value))
	}
	return header, nil
}

// oneModel is the model that arguments or --model name, empty for the built-in one.
func (f *modelFlags) oneModel(list []string) (string, error) {
	if len(list) == 0 {
		return f.model, nil
	}
	if f.model != "" {
		return "", usagef("two models, %s and %s; name one", list[0], f.model)
	}
	return list[0], nil
}

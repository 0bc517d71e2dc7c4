package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/nano"
	"github.com/gemwire/gemwire/gemma4/tokenizer"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/ollama"
	"github.com/gemwire/gemwire/multimodal"
	"github.com/gemwire/gemwire/wgslkit"
)

// BuiltIn is the path of the built-in model; so is no path at all.
const BuiltIn = "builtin:" + nano.Name

// OpenOptions say how a model is opened. The zero value is a good choice.
type OpenOptions struct {
	Device       gemma4.Device
	Context      int // tokens that a session holds; 0: as gemma4.OpenOptions
	KVCache      gemma4.CacheType
	MemoryBudget int64  // bytes of GPU memory; 0: no bound
	Adapter      string // part of the GPU's name; empty takes the fastest
	Projector    string // the file of the towers, where the model's own holds none
	Assistant    string // the file of an assistant, which guesses what the model will say; none where empty
	ImageBudget  int    // soft tokens of an image, where it says nothing itself
	// Progress, where set, hears how far opening is; false ends it.
	Progress func(gemma4.Progress) bool
}

// model is an open model with a number.
type model struct {
	*gemma4.Model
	lifetime
	failed failures
	media  *multimodal.Media

	mu      sync.Mutex
	answers map[*session]bool // that have an answer under way
}

func (m *model) failures() *failures { return &m.failed }

func (m *model) cancel(cause error) {
	m.mu.Lock()
	var all []*session
	for s := range m.answers {
		all = append(all, s)
	}
	m.mu.Unlock()
	for _, s := range all {
		s.cancel(cause)
	}
}

// answering notes that a session has begun to answer, or that it has ended.
func (m *model) answering(s *session, begun bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if begun {
		m.answers[s] = true
	} else {
		delete(m.answers, s)
	}
}

// OpenModel opens the model in a file, at an http or https address, or the
// built-in one.
func (e *Engine) OpenModel(ctx context.Context, path string, o OpenOptions) (Handle, error) {
	begun := time.Now()
	opened, err := openModel(ctx, path, o)
	if err != nil {
		return 0, err
	}
	m := &model{Model: opened, answers: map[*session]bool{}}
	if m.media, err = multimodal.Attach(opened, multimodal.Options{ImageBudget: o.ImageBudget}); err != nil {
		return 0, errors.Join(err, opened.Close())
	}
	m.release = func() error {
		err := m.Model.Close()
		m.Model, m.media = nil, nil
		debug.FreeOSMemory() // a phone wants it back now, not when Go collects next
		e.log(Info, "a model is closed")
		return err
	}
	info := m.Info()
	if info.TemplateNote != "" {
		e.log(Warning, "%s", info.TemplateNote)
	}
	if info.Fallback != "" {
		e.log(Warning, "running on the CPU: %s", info.Fallback)
	}
	e.log(Info, "%s is open on %s after %v, for %d tokens", info.Name, info.DeviceName,
		time.Since(begun).Round(time.Millisecond), info.Context)
	return e.add(m), nil
}

func openModel(ctx context.Context, path string, o OpenOptions) (*gemma4.Model, error) {
	if o.MemoryBudget < 0 {
		return nil, fmt.Errorf("%w: a budget of %d bytes", ErrArgument, o.MemoryBudget)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	progress := func(p gemma4.Progress) {
		if o.Progress != nil && context.Cause(ctx) == nil && !o.Progress(p) {
			stop(errCallback)
		}
	}
	progress(gemma4.Progress{Phase: gemma4.PhaseHeader})
	file, err := openFile(ctx, path, o.Projector)
	var model *gemma4.Model
	if err == nil {
		model, err = gemma4.OpenGGUF(ctx, file, gemma4.OpenOptions{
			Device: o.Device, Context: o.Context, KVCache: o.KVCache, Progress: progress,
			GPU: wgslkit.Options{MemoryBudget: o.MemoryBudget, Adapter: o.Adapter},
		})
	}
	if err == nil && o.Assistant != "" {
		err = attachAssistant(ctx, model, o.Assistant, progress)
	}
	cause := context.Cause(ctx)
	if err == nil && cause == nil {
		return model, nil
	}
	if model != nil {
		err = errors.Join(err, model.Close())
	}
	if cause != nil {
		return nil, fmt.Errorf("%s: opening it: %w", nameOf(path), cause)
	}
	return nil, fmt.Errorf("%s: %w", nameOf(path), err)
}

func attachAssistant(ctx context.Context, m *gemma4.Model, path string, progress func(gemma4.Progress)) error {
	file, err := openFile(ctx, path, "")
	if err == nil {
		err = m.AttachAssistant(ctx, file, gemma4.OpenOptions{Progress: progress})
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func nameOf(path string) string {
	if path == "" {
		return BuiltIn
	}
	return path
}

// openFile reads a file's header.
func openFile(ctx context.Context, path, projector string) (*gguf.File, error) {
	var with []gguf.Option
	if projector != "" {
		with = append(with, gguf.WithProjector(projector))
	}
	switch {
	case nameOf(path) == BuiltIn && projector != "":
		return nil, fmt.Errorf("%w: a projector for the built-in model, which has its towers", ErrArgument)
	case nameOf(path) == BuiltIn:
		return gguf.Open(ctx, nano.Source())
	case strings.HasPrefix(path, "http://"), strings.HasPrefix(path, "https://"):
		return gguf.OpenRemote(ctx, path, gguf.HTTPOptions{}, with...)
	}
	file, err := gguf.OpenPath(ctx, path, with...)
	if errors.Is(err, fs.ErrNotExist) {
		if stored, err := inStore(path); stored != nil || err != nil {
			return openStored(ctx, stored, err, with)
		}
	}
	return file, err
}

// inStore is the model of that name in Ollama's store, nil where there is none.
func inStore(name string) (*ollama.Model, error) {
	store, err := ollama.Find()
	var found *ollama.Model
	if err == nil {
		found, err = store.Resolve(name)
	}
	if errors.Is(err, ollama.ErrNoStore) || errors.Is(err, ollama.ErrNotFound) || errors.Is(err, ollama.ErrName) {
		return nil, nil
	}
	return found, err
}

// openStored opens a model of Ollama's store; with may name another projector than its own.
func openStored(ctx context.Context, m *ollama.Model, err error, with []gguf.Option) (*gguf.File, error) {
	switch {
	case err != nil:
		return nil, err
	case len(m.Adapters) > 0:
		return nil, fmt.Errorf("%w: in Ollama's store it comes with an adapter; open the model below it, and load the "+
			"adapter %s", gemma4.ErrUnsupported, m.Adapters[0])
	case len(with) > 0:
		return gguf.OpenPath(ctx, m.Path, with...)
	}
	return m.Open(ctx)
}

// ModelInfo describes an open model as JSON: gemma4.Info without its list of
// tensors, whether it sees and hears, and its memory on the GPU.
func (e *Engine) ModelInfo(h Handle) ([]byte, error) {
	m, err := enter[*model](e, h, "model")
	if err != nil {
		return nil, err
	}
	defer m.leave()
	info := m.Info()
	if info.Plan != nil {
		plan := *info.Plan
		plan.Entries = nil
		info.Plan = &plan
	}
	return json.Marshal(struct {
		gemma4.Info
		Images    bool                      `json:"images"`
		Audio     bool                      `json:"audio"`
		GPUMemory map[wgslkit.Purpose]int64 `json:"gpuMemory,omitempty"` // bytes
	}{info, m.media.Images(), m.media.Audio(), m.GPUMemory()})
}

// ReleaseMedia frees the image and audio towers until the next medium comes.
func (e *Engine) ReleaseMedia(h Handle) error {
	m, err := enter[*model](e, h, "model")
	if err != nil {
		return err
	}
	defer m.leave()
	m.media.Release()
	return nil
}

// Tokenize turns text into token ids. In a special one, control tokens count.
func (e *Engine) Tokenize(h Handle, text string, special bool) ([]int, error) {
	m, err := enter[*model](e, h, "model")
	if err != nil {
		return nil, err
	}
	defer m.leave()
	if special {
		return m.Tokenizer().EncodeSpecial(text), nil
	}
	return m.Tokenizer().Encode(text), nil
}

// Detokenize turns token ids into text.
func (e *Engine) Detokenize(h Handle, ids []int) (string, error) {
	m, err := enter[*model](e, h, "model")
	if err != nil {
		return "", err
	}
	defer m.leave()
	return m.Tokenizer().Decode(ids, tokenizer.DecodeOptions{})
}

package models

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gguf/ollama"
	"github.com/gemwire/gemwire/tools/internal/modelref"
	"github.com/gemwire/gemwire/tools/server/pool"
)

// What a caller can act on, beside the errors of gemma4.
var (
	// ErrNotFound: no model has the name.
	ErrNotFound = modelref.ErrNotFound
	// ErrName: a name that no model can have.
	ErrName = ollama.ErrName
	// ErrKept: a model that cannot be deleted or replaced.
	ErrKept = errors.New("the model cannot be changed")
	// ErrRecipe: a model cannot be made as it was described.
	ErrRecipe = errors.New("the model cannot be created")
	// ErrPull: an address or name that cannot be pulled.
	ErrPull = errors.New("the model cannot be pulled")
)

// Options say which models there are and how they are opened. The zero value takes those of `gemwire list`.
type Options struct {
	// Getenv says where models lie, by GEMWIRE_MODELS and OLLAMA_MODELS; nil is os.Getenv.
	Getenv func(string) string
	// Files are further models: paths of GGUF files, or addresses. They are called by the file's name.
	Files []string
	// Adapters are LoRA adapters by name: MODEL:NAME is the model with that adapter.
	Adapters map[string]string
	// Open is how each model is opened. GPU.MemoryBudget is for all models together.
	Open gemma4.OpenOptions
	// Answers bounds what each model answers at once.
	Answers pool.Options
	// Answerer makes what answers for an open model; nil is a pool of sessions.
	Answerer func(*gemma4.Model, pool.Options) pool.Answerer
	// KeepAlive is how long an unused model stays open: 0 is DefaultKeepAlive, a negative time for ever.
	KeepAlive time.Duration
	// MostOpen is how many models may be open; 0 is DefaultMostOpen.
	MostOpen int
	// Log hears what is opened and closed; nil is nobody.
	Log *slog.Logger
	// PrivatePulls lets models be pulled from addresses of private networks and of this machine.
	PrivatePulls bool
}

// Defaults of Options.
const (
	DefaultKeepAlive = 5 * time.Minute
	DefaultMostOpen  = 3
)

// Library is the models of a server. Make one with New, and Close it.
type Library struct {
	options Options
	finder  modelref.Finder
	created created

	files map[string]modelref.Reference // of Options.Files, by name

	opening chan struct{} // holds one: who opens a model
	base    context.Context
	stop    context.CancelFunc

	mu      sync.Mutex
	slots   map[string]*slot // open models, by where their weights are
	freed   chan struct{}    // closed when a model is no longer in use
	stopped bool

	details detailsCache
	opened  map[string]*adapter.Adapter // adapters that were read, by path; guarded by mu

	embedder embedder
}

// New makes a library. It opens nothing.
func New(o Options) (*Library, error) {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.KeepAlive == 0 {
		o.KeepAlive = DefaultKeepAlive
	}
	if o.MostOpen == 0 {
		o.MostOpen = DefaultMostOpen
	}
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	if o.Answers.Log == nil {
		o.Answers.Log = o.Log
	}
	if o.Answerer == nil {
		o.Answerer = func(m *gemma4.Model, p pool.Options) pool.Answerer { return pool.New(m, p) }
	}
	finder := modelref.NewFinder(o.Getenv)
	l := &Library{
		options: o, finder: finder, created: created{folder: createdFolder(finder.Folder)},
		files: map[string]modelref.Reference{}, opening: make(chan struct{}, 1), slots: map[string]*slot{},
		freed: make(chan struct{}), opened: map[string]*adapter.Adapter{},
		embedder: embedder{turn: make(chan struct{}, 1)},
	}
	l.base, l.stop = context.WithCancel(context.Background())
	for _, path := range o.Files {
		if err := l.addFile(path); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// Stop lets no new answers begin: those that wait fail, those under way go on.
func (l *Library) Stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
	for _, s := range l.slots {
		if s.answerer != nil {
			s.answerer.Stop()
		}
	}
}

// Close closes all models. Answers under way must have ended.
func (l *Library) Close() error {
	l.Stop()
	l.stop()
	all := l.stopEmbedder()
	l.opening <- struct{}{} // whoever opens a model has finished
	defer func() { <-l.opening }()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.slots {
		all = errors.Join(all, l.closeSlot(s, "the server stops"))
	}
	return all
}

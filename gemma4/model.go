package gemma4

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/gemma4/internal/eventloop"
	"github.com/gemwire/gemwire/gemma4/tokenizer"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/checkup"
)

// Phase is what Open is busy with.
type Phase string

// The phases of Open.
const (
	PhaseHeader  Phase = "reading the header"
	PhaseWeights Phase = "loading weights"
	PhaseKernels Phase = "compiling kernels"
	// PhaseCheck comes before the weights, where a GPU's kernels were not checked before.
	PhaseCheck Phase = "checking this GPU's kernels"
)

// Progress is how far something is. Total is 0 where it is not known.
type Progress struct {
	Phase       Phase
	Done, Total int64 // bytes, or tokens of a prompt, or kernels
}

// CacheType says what sessions keep keys and values as.
type CacheType = engine.CacheType

// The types of caches.
const (
	// CacheF16 is float16, and float32 on the CPU. The zero value means the same.
	CacheF16 = engine.CacheF16
	// CacheQ8 is 8 bits, with a float16 scale for each 32 values of a head
	// (quant.Q8_0): 17/32 of the memory of float16.
	CacheQ8 = engine.CacheQ8
)

// OpenOptions say how a model is opened. The zero value takes the GPU, or the
// CPU where there is none.
type OpenOptions struct {
	Device Device
	// GPU chooses and bounds the device; see wgslkit.Options.
	GPU wgslkit.Options
	// Context is how many tokens a session holds unless it says otherwise: 0
	// means DefaultContext, or what the model was made for where that is less.
	Context int
	// KVCache is what sessions keep keys and values as: CacheF16 unless it says otherwise.
	KVCache CacheType
	// Batch, where set, is one that is to be made of the model: on a GPU with a memory
	// budget, the plan leaves room for it.
	Batch *BatchOptions
	// TablesInFile leaves embedding tables that are only looked up in the file,
	// which then has to be quick to read from: steps wait for their rows, and the
	// memory is free for something else, such as training.
	TablesInFile bool
	// Kernels examines the kernels that the model takes and that were not examined on
	// the GPU before; nil is one that keeps its verdicts in the user's cache, and in a
	// browser, which has no such folder, none at all. Kernels that compute wrongly are
	// left out: Info.Kernels names them. Where nothing can take their place, opening fails
	// with checkup.ErrNoVariant.
	Kernels *checkup.Examiner
	// Examined, where set, hears after each examination of kernels what Info.Kernels is
	// then: of the model, and later of what comes to it.
	Examined func(*checkup.Findings)
	// UncheckedKernels takes kernels as they are, examined or not.
	UncheckedKernels bool
	// Progress, where set, is called from time to time while the model loads.
	Progress func(Progress)
}

// DefaultContext is how many tokens a session holds where nothing else is said.
const DefaultContext = 8192

// contextFor is how many tokens a session of a model holds.
func (o OpenOptions) contextFor(c *arch.Config) (int, error) {
	if o.Context < 0 || o.Context > c.ContextLength {
		return 0, fmt.Errorf("%w: a context of %d tokens; this model takes 1 to %d", ErrUnsupported, o.Context,
			c.ContextLength)
	}
	if o.Context == 0 {
		return min(DefaultContext, c.ContextLength), nil
	}
	return o.Context, nil
}

func (o OpenOptions) report(p Progress) {
	if o.Progress != nil {
		o.Progress(p)
	}
}

// engineOptions are those of an engine with sessions of that many tokens.
func (o OpenOptions) engineOptions(contextLength int) engine.Options {
	options := engine.Options{
		Context: contextLength, KVCache: o.KVCache, TablesInFile: o.TablesInFile, Progress: o.reportWeights,
	}
	if o.Batch != nil {
		options.Batch = o.Batch.orDefault(contextLength).engineOptions()
	}
	return options
}

func (o OpenOptions) reportWeights(done, total int64) {
	o.report(Progress{Phase: PhaseWeights, Done: done, Total: total})
}

// Model is an open model, ready for sessions. Its methods may be called from
// several goroutines; sessions take turns on the device.
type Model struct {
	file      *gguf.File
	arch      *arch.Model
	tokenizer *tokenizer.Tokenizer
	template  chat.Template
	engine    engine.Engine
	info      Info
	context   int
	cacheType CacheType
	adapters  adapterSet
	// constraints are compiled for the tokenizer.
	constraints constraints
	breakers    breakers
	examiner    *checkup.Examiner // of kernels; nil for none
	options     engine.Options    // of an engine on a GPU

	hearExamined func(*checkup.Findings) // OpenOptions.Examined

	examined sync.Mutex // guards kernels alone: who examines may be waited for by Close
	kernels  *checkup.Findings

	// hashed is the file's fingerprint.
	hashed func() (string, error)

	mu        sync.Mutex
	media     MediaEncoder // nil where none was set
	assistant *gguf.File   // nil where none is attached
	sessions  int
	retained  int // by others than sessions
	closed    bool

	// batches are those that are open, whose programs change with the adapters. Their lock
	// is taken behind all others.
	batching sync.Mutex
	batches  map[*Batch]engine.BatchOptions
}

// Info describes an open model.
type Info struct {
	Name       string `json:"name"`
	Device     Device `json:"device"`
	DeviceName string `json:"deviceName"`
	Fallback   string `json:"fallback,omitempty"` // why the CPU was taken, where a GPU was wished for
	Template   string `json:"template"`
	// TemplateNote says, where the file brings a chat template that is not the one in use,
	// what that may mean.
	TemplateNote string `json:"templateNote,omitempty"`
	Layers       int    `json:"layers"`
	Vocab        int    `json:"vocab"`
	MaxContext   int    `json:"maxContext"`
	Context      int    `json:"context"`
	// KVCache is what sessions keep keys and values as.
	KVCache    CacheType `json:"kvCache"`
	FileSize   int64     `json:"fileSize"`
	Dispatches int       `json:"dispatches,omitempty"`
	Assistant  string    `json:"assistant,omitempty"` // the name of what AttachAssistant took

	// On a GPU.
	Plan     *Plan             `json:"plan,omitempty"`
	Adapter  *wgslkit.Info     `json:"adapter,omitempty"`
	Limits   *wgslkit.Limits   `json:"limits,omitempty"`
	Features *wgslkit.Features `json:"features,omitempty"`
	// Kernels is what was found out about the kernels that were taken so far; nil where
	// they are unchecked.
	Kernels *checkup.Findings `json:"kernels,omitempty"`
}

// templateNotes say what it means that a file brings another template.
var templateNotes = map[arch.Family]map[chat.Edition]string{
	arch.Gemma4: {
		chat.Older: "this file brings an older edition of Google's chat template; that of 2026-07-09 is used, which " +
			"differs around tools and thoughts",
		chat.Unknown: "this file brings a chat template of its own; Google's of 2026-07-09 is used, so answers may " +
			"differ from what its maker has seen",
	},
	arch.Gemma3: {
		chat.Older: "this file brings the first edition of Gemma 3's chat template; the present one is used, which " +
			"puts an empty line behind system text",
		chat.Unknown: "this file brings a chat template of its own; Google's for Gemma 3 is used, which has no tools, " +
			"so answers may differ from what its maker has seen",
	},
}

// Open reads a model's header, plans where its tensors live, and loads them.
// source is closed with the model, or at once on an error.
func Open(ctx context.Context, source gguf.Source, opts OpenOptions) (*Model, error) {
	opts.report(Progress{Phase: PhaseHeader})
	file, err := gguf.Open(ctx, source)
	if err != nil {
		return nil, errors.Join(err, source.Close())
	}
	return OpenGGUF(ctx, file, opts)
}

// OpenGGUF is Open for a file whose header has been read: one in several
// parts, or with a projector beside it. file is closed with the model.
func OpenGGUF(ctx context.Context, file *gguf.File, opts OpenOptions) (*Model, error) {
	m := &Model{file: file, hashed: sync.OnceValues(func() (string, error) { return hashTensors(file) })}
	if err := m.open(ctx, opts); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return m, nil
}

func (m *Model) open(ctx context.Context, opts OpenOptions) (err error) {
	if m.arch, err = arch.Open(m.file); err != nil {
		return err
	}
	c := m.arch.Config
	m.template = chat.For(c)
	if m.context, err = opts.contextFor(c); err != nil {
		return err
	}
	if m.cacheType, err = engine.ParseCacheType(opts.KVCache); err != nil {
		return err
	}
	name, _ := m.file.Meta.String("general.name")
	m.info = Info{
		Name: name, Template: m.template.String(), Layers: c.Blocks, Vocab: c.Vocab,
		MaxContext: c.ContextLength, Context: m.context, KVCache: m.cacheType, FileSize: m.file.Size(),
	}
	own, _ := m.file.Meta.String("tokenizer.chat_template")
	m.info.TemplateNote = templateNotes[c.Family][m.template.EditionOf(own)]
	if err := m.load(ctx, opts); err != nil {
		return err
	}
	m.info.Device, m.info.DeviceName = DeviceCPU, m.engine.DeviceName()
	if kit := m.Kit(); kit != nil {
		adapter, limits, features := kit.Device().Info(), kit.Device().Limits(), kit.Device().Features()
		m.info.Device, m.info.Adapter, m.info.Limits, m.info.Features = DeviceGPU, &adapter, &limits, &features
	}
	return nil
}

// load makes the tokenizer while the weights are on their way, which stop where it
// cannot be made. A browser has one thread for both: there the GPU is opened, and finds
// memory, while the tokenizer is made, and weights are read when it is done.
func (m *Model) load(ctx context.Context, opts OpenOptions) (err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	made := make(chan struct{})
	var failed error
	go func() {
		defer close(made)
		if failed = m.makeTokenizer(); failed != nil {
			stop(failed)
		}
	}()
	var ready func()
	if runtime.GOOS == "js" {
		ready = func() { <-made }
	}
	m.engine, err = m.newEngine(ctx, opts, ready)
	<-made
	if failed != nil {
		if err == nil {
			failed = errors.Join(failed, m.engine.Close())
		}
		return failed
	}
	return err
}

func (m *Model) makeTokenizer() (err error) {
	if m.tokenizer, err = tokenizer.FromGGUFInSteps(m.file.Meta, eventloop.Yield); err != nil {
		return err
	}
	// Embedding tables may be padded beyond the tokens that there are.
	if m.tokenizer.Len() > m.arch.Config.Vocab {
		return fmt.Errorf("%w: the tokenizer has %d tokens and the model only %d", ErrUnsupported, m.tokenizer.Len(),
			m.arch.Config.Vocab)
	}
	return nil
}

// Info describes the model and where it runs, with the adapters that are in use now.
func (m *Model) Info() Info {
	info := m.info
	info.Plan = m.engine.Plan()
	m.examined.Lock()
	defer m.examined.Unlock()
	info.Kernels = m.kernels
	return info
}

// Config is the model's sizes.
func (m *Model) Config() *arch.Config { return m.arch.Config }

// Tokenizer is the model's own.
func (m *Model) Tokenizer() *tokenizer.Tokenizer { return m.tokenizer }

// Template is the chat format that the model was trained on.
func (m *Model) Template() chat.Template { return m.template }

// File is the model's file, its projector's tensors joined where it has one. It
// closes with the model.
func (m *Model) File() *gguf.File { return m.file }

// Retain keeps the model open for whoever computes with its weights beside sessions,
// such as a training run: Close fails with ErrBusy until release is called, once.
func (m *Model) Retain() (release func(), err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, fmt.Errorf("%w: model", ErrClosed)
	}
	m.retained++
	return sync.OnceFunc(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.retained--
	}), nil
}

// Close releases everything. Sessions and training runs must be closed before.
func (m *Model) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil
	}
	if m.sessions > 0 {
		return fmt.Errorf("%w: %d sessions are still open", ErrBusy, m.sessions)
	}
	if m.retained > 0 {
		return fmt.Errorf("%w: %d training runs still use it; close them first", ErrBusy, m.retained)
	}
	m.closed = true
	var media error
	if c, ok := m.media.(io.Closer); ok {
		media = c.Close()
	}
	err := errors.Join(media, m.engine.Close(), m.file.Close())
	if m.assistant != nil {
		err = errors.Join(err, m.assistant.Close())
	}
	return err
}

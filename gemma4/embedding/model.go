package embedding

import (
	"context"
	"errors"
	"fmt"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/cpu"
	"github.com/gemwire/gemwire/gemma4/tokenizer"
	"github.com/gemwire/gemwire/gguf"
)

// What a caller can act on, beside the errors of package arch for files of another
// kind.
var (
	// ErrInput says that the model cannot embed what it was given.
	ErrInput = errors.New("invalid input")
	// ErrTooLong says that a text has more tokens than the model takes.
	ErrTooLong = errors.New("the text is too long")
)

// Options say how a model is opened. The zero value is a good choice.
type Options struct {
	// Threads is how many cores to use: 0 means as many as Go may (GOMAXPROCS).
	Threads int
	// Progress, where set, is called while weights are loaded.
	Progress func(doneBytes, totalBytes int64)
}

// Model makes embeddings. It may be used by several goroutines at a time and has to
// be closed.
type Model struct {
	file      *gguf.File
	config    *arch.Config
	tokenizer *tokenizer.Tokenizer
	cores     *cpu.Cores
	dims      int // of an embedding

	tokenEmbd         cpu.Matrix // [vocab, d]
	perLayerModelProj cpu.Matrix // [L·P, d]
	perLayerProjNorm  []float32
	layers            []layer
	outputNorm        []float32
	output            cpu.Matrix // [dims, d]
}

// layer holds the weights of one layer. v is k where K = V; inpGate, proj and
// postNorm are of no account without per-layer embeddings.
type layer struct {
	attnNorm, qNorm, kNorm, postAttentionNorm []float32
	q, k, v, attnOutput                       cpu.Matrix
	ffnNorm, postFFWNorm                      []float32
	gate, up, down                            cpu.Matrix
	inpGate, proj                             cpu.Matrix
	postNorm                                  []float32
	outputScale                               float32
}

// Open reads the header and the weights of an encoder. source is closed with the
// model, or at once on an error, which wraps arch.ErrArchitecture where the file
// holds another kind of model.
func Open(ctx context.Context, source gguf.Source, opts Options) (*Model, error) {
	file, err := gguf.Open(ctx, source)
	if err != nil {
		return nil, errors.Join(err, source.Close())
	}
	return OpenGGUF(ctx, file, opts)
}

// OpenGGUF is Open for a file whose header has been read. file is closed with the model.
func OpenGGUF(ctx context.Context, file *gguf.File, opts Options) (*Model, error) {
	m, err := open(ctx, file, opts)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return m, nil
}

func open(ctx context.Context, file *gguf.File, opts Options) (*Model, error) {
	if opts.Threads < 0 {
		return nil, fmt.Errorf("%d threads: %w", opts.Threads, ErrInput)
	}
	a, err := arch.OpenEncoder(file)
	if err != nil {
		return nil, err
	}
	m := &Model{file: file, config: a.Config, dims: a.OutputLength}
	if m.tokenizer, err = tokenizer.FromGGUF(file.Meta); err != nil {
		return nil, err
	}
	if n := m.tokenizer.Len(); n > a.Config.Vocab {
		return nil, fmt.Errorf("the tokenizer has %d tokens and the model only %d: %w", n, a.Config.Vocab, arch.ErrConfig)
	}
	m.cores = cpu.NewCores(opts.Threads)
	l := &loader{ctx: ctx, cores: m.cores, progress: opts.Progress}
	l.model(m, a)
	if err := l.load(); err != nil {
		m.cores.Close()
		return nil, fmt.Errorf("loading the embedding model: %w", err)
	}
	return m, nil
}

// Close releases the weights and the file. Nothing may be running or follow.
func (m *Model) Close() error {
	m.cores.Close()
	return m.file.Close()
}

// Name is the model's, as the file gives it.
func (m *Model) Name() string {
	name, _ := m.file.Meta.String("general.name")
	return name
}

// Dimensions is the length of a whole embedding.
func (m *Model) Dimensions() int { return m.dims }

// ContextLength is how many tokens a text may have, the two around it included.
func (m *Model) ContextLength() int { return m.config.ContextLength }

// Config is the model's sizes.
func (m *Model) Config() *arch.Config { return m.config }

// Tokenizer is the model's own.
func (m *Model) Tokenizer() *tokenizer.Tokenizer { return m.tokenizer }

// File is the model's file, its projector's tensors joined where it has one.
func (m *Model) File() *gguf.File { return m.file }

// loader reads small tensors at once and notes matrices to be loaded; it keeps the
// first error.
type loader struct {
	ctx      context.Context
	cores    *cpu.Cores
	progress func(done, total int64)
	matrices []cpu.Matrix
	bytes    []int64
	err      error
}

func (l *loader) model(m *Model, a *arch.Encoder) {
	m.tokenEmbd = cpu.NewMatrix(a.TokenEmbd, 0) // a table: rows are read when they are needed
	if a.Config.PerLayerDim > 0 {
		m.perLayerModelProj = l.matrix(a.PerLayerModelProj)
		m.perLayerProjNorm = l.vector(a.PerLayerProjNorm)
	}
	m.layers = make([]layer, len(a.Layers))
	for i := range a.Layers {
		m.layers[i] = l.layer(&a.Layers[i])
	}
	m.outputNorm = l.vector(a.OutputNorm)
	m.output = l.matrix(a.Output)
}

func (l *loader) layer(a *arch.Layer) layer {
	r := layer{
		attnNorm: l.vector(a.AttnNorm), qNorm: l.vector(a.QNorm), kNorm: l.vector(a.KNorm),
		q: l.matrix(a.Q), k: l.matrix(a.K), attnOutput: l.matrix(a.AttnOutput),
		postAttentionNorm: l.vector(a.PostAttentionNorm),
		ffnNorm:           l.vector(a.FFNNorm), gate: l.matrix(a.Gate), up: l.matrix(a.Up), down: l.matrix(a.Down),
		postFFWNorm: l.vector(a.PostFFWNorm),
		outputScale: 1,
	}
	if r.v = r.k; a.V != nil {
		r.v = l.matrix(a.V)
	}
	if a.InpGate != nil {
		r.inpGate, r.proj, r.postNorm = l.matrix(a.InpGate), l.matrix(a.Proj), l.vector(a.PostNorm)
	}
	if scale := l.vector(a.OutputScale); len(scale) == 1 {
		r.outputScale = scale[0]
	}
	return r
}

// vector reads a norm or another small tensor; nil stays nil.
func (l *loader) vector(t *gguf.Tensor) []float32 {
	if t == nil || l.err != nil {
		return nil
	}
	values := make([]float32, t.Elements())
	l.err = t.ReadRows(values, 0, t.Rows())
	return values
}

func (l *loader) matrix(t *gguf.Tensor) cpu.Matrix {
	w := cpu.NewMatrix(t, 0)
	l.matrices = append(l.matrices, w)
	l.bytes = append(l.bytes, t.Size)
	return w
}

// load brings the matrices into memory.
func (l *loader) load() error {
	var done, total int64
	for _, n := range l.bytes {
		total += n
	}
	for i, w := range l.matrices {
		if l.err == nil {
			l.err = l.cores.Load(l.ctx, w)
		}
		if l.err != nil {
			return l.err
		}
		if done += l.bytes[i]; l.progress != nil {
			l.progress(done, total)
		}
	}
	return nil
}

package cpu

import (
	"context"
	"fmt"
	"runtime"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/cpu/kernel"
	"github.com/gemwire/gemwire/quant"
)

// Options says what a Model may use. The zero value is a good choice.
type Options struct {
	// WeightBudget is how many bytes of weights may be kept in memory, in the file's
	// form where the kernels multiply that, and else decoded, as float32: 0 means
	// DefaultWeightBudget, or DefaultStoredBudget where they multiply Q4_K as it is
	// stored; a negative number none at all. What does not fit is read anew in each step.
	WeightBudget int64
	// Whole says that all weights have to be in memory, those of tables included:
	// where WeightBudget is less, New fails with ErrTooLarge before it reads any.
	Whole bool
	// Threads is how many cores to use: 0 means as many as Go may (GOMAXPROCS).
	Threads int
	// Batch is how many prompt tokens go through the layers together: 0 means
	// DefaultBatch. It is also how far a Cache can be truncated once its
	// sliding layers are full.
	Batch int
	// CacheType is what a Cache keeps keys and values as: quant.F32, the zero value, or
	// quant.Q8_0, which takes little more than a quarter of it.
	CacheType quant.Type
	// Progress, where set, is called while New decodes weights.
	Progress func(doneBytes, totalBytes int64)
	// Yield, where set, is called between layers: where nothing else runs beside
	// a computing goroutine, others get their turn there.
	Yield func()
}

// What the zero Options mean.
const (
	DefaultWeightBudget = 512 << 20
	DefaultStoredBudget = 2 << 30
	DefaultBatch        = 256
)

// Model holds the weights of a text model and the goroutines that compute with
// them. It may be used by many goroutines at a time, each with a Cache of its
// own, and has to be closed.
type Model struct {
	config    *arch.Config
	batch     int
	threads   *threads
	yield     func()
	cacheType quant.Type
	loaded    map[string]*matrix // by the tensor's name
	observer  Observer           // nil but while an importance matrix is measured

	tokenEmbd         *matrix // [vocab, d]
	output            *matrix // [vocab, d]
	outputNorm        []float32
	ropeFactors       []float32 // D/2 of the global layers
	perLayerTokenEmbd *matrix   // [vocab, L·P]
	perLayerModelProj *matrix   // [L·P, d]
	perLayerProjNorm  []float32
	layers            []layer
}

// layer holds the weights of one layer: matrices as [out, in], norms as vectors.
type layer struct {
	attnNorm, qNorm, kNorm, postAttentionNorm []float32
	q, k, v, attnOutput                       *matrix // v is k where K = V

	ffnNorm, postFFWNorm []float32
	gate, up, down       *matrix
	moe                  *experts // nil in layers without

	inpGate, proj *matrix // nil without per-layer embeddings
	postNorm      []float32

	outputScale float32
}

// experts holds the mixture of experts of a layer. Expert e's rows of a matrix
// are expertRows·e on; gate and up may be the same matrix.
type experts struct {
	router                           *matrix // [E, d]
	routerScale                      []float32
	gate, up                         expertRows
	down                             expertRows
	downScale                        []float32
	preNorm, postDenseNorm, postNorm []float32
}

// expertRows says which rows of a matrix belong to an expert: n rows from
// stride·e + offset on.
type expertRows struct {
	*matrix
	stride, offset, n int
}

// New decodes the weights of a model. The file that the model's tensors lie in
// has to stay open for as long as the Model is in use.
func New(ctx context.Context, model *arch.Model, options Options) (*Model, error) {
	o, err := options.filled()
	if err != nil {
		return nil, err
	}
	m := &Model{config: model.Config, batch: o.Batch, threads: newThreads(o.Threads), yield: o.Yield,
		cacheType: o.CacheType}
	l := &loader{ctx: ctx, threads: m.threads, progress: o.Progress, whole: o.Whole}
	l.model(m, model)
	if err := l.decode(o.WeightBudget); err != nil {
		m.Close()
		return nil, fmt.Errorf("loading the model for the CPU: %w", err)
	}
	m.loaded = l.byName()
	return m, nil
}

func (o Options) filled() (Options, error) {
	if o.Threads < 0 || o.Batch < 0 {
		return o, fmt.Errorf("%d threads, batches of %d: neither may be negative: %w", o.Threads, o.Batch, ErrInput)
	}
	if err := checkCacheType(o.CacheType); err != nil {
		return o, err
	}
	if o.WeightBudget == 0 {
		o.WeightBudget = DefaultWeightBudget
		if kernel.Best.Fused(quant.Q4_K) {
			o.WeightBudget = DefaultStoredBudget
		}
	}
	if o.Threads == 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	if o.Batch == 0 {
		o.Batch = DefaultBatch
	}
	if o.Yield == nil {
		o.Yield = func() {}
	}
	return o, nil
}

// Config returns the model's sizes.
func (m *Model) Config() *arch.Config { return m.config }

// Close ends the model's goroutines. No Forward may be running or follow.
func (m *Model) Close() { m.threads.close() }

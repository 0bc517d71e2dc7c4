package gpu

import (
	"fmt"
	"math"

	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// NewPlan places every tensor on the GPU; where that is over the budget, the
// embedding tables that are only looked up, largest first, stay in the file.
// Where opts.TablesInFile, they do so anyway. Then prompts are computed fewer tokens at
// once. Where that is not enough either, the plan comes with engine.ErrDoesNotFit. Room
// for the adapters is left. What is made beside, on first use, is not counted: room for
// longer drafts than usual, for the logits of every token, for pictures and sound.
func NewPlan(kit *ops.Kit, m *arch.Model, opts engine.Options, adapters []adapter.Weighted) (*engine.Plan, error) {
	p, err := newPlanner(kit, m, opts, layAdapters(m.Config, adapters))
	if p == nil {
		return nil, err
	}
	return p.plan, err
}

// planner places tensors on a device.
type planner struct {
	kit      *ops.Kit
	model    *arch.Model
	sizing   sizing
	adapters *adapterWeights
	// tablesInFile is engine.Options.TablesInFile.
	tablesInFile bool
	// checkpoints bounds how many a session keeps; they are the first to be given up.
	checkpoints int
	plan        *engine.Plan
	kernels     wgslkit.Wanted // of the weights and one session
	batch       engine.BatchOptions
}

// newPlanner is a planner that has made its plan. Where the plan does not fit, it comes
// with the error; adapters may be nil.
func newPlanner(kit *ops.Kit, m *arch.Model, opts engine.Options, adapters *adapterWeights) (*planner, error) {
	s := newSizing(m.Config, opts.Context, cacheValues(opts.KVCache), kit)
	p := &planner{kit: kit, model: m, sizing: s, adapters: adapters, tablesInFile: opts.TablesInFile,
		checkpoints: math.MaxInt, batch: opts.Batch,
		plan: &engine.Plan{
			Device: kit.Device().Info().Name, Context: s.context, KVCache: engine.CacheTypeOf(s.cache),
			Budget: kit.Device().Budget(),
		}}
	for _, t := range engine.TextTensors(m) {
		if err := p.place(t); err != nil {
			return nil, err
		}
	}
	if err := p.fit(); err != nil {
		return nil, err
	}
	if !p.fits() {
		return p, p.doesNotFit()
	}
	return p, nil
}

func (p *planner) fits() bool { return p.plan.Budget == 0 || p.plan.Total() <= p.plan.Budget }

func (p *planner) doesNotFit() error {
	plan, beside := p.plan, ""
	if plan.Adapters > 0 {
		beside = ", beside " + engine.FormatBytes(plan.Adapters)
	}
	if plan.Batch > 0 {
		beside += ", a batch " + engine.FormatBytes(plan.Batch)
	}
	return fmt.Errorf("%w: %s needed (weights %s, cache %s, work %s%s) and %s allowed; "+
		"use a smaller context or model, or run on the CPU", engine.ErrDoesNotFit,
		engine.FormatBytes(plan.Total()), engine.FormatBytes(plan.Weights), engine.FormatBytes(plan.Cache),
		engine.FormatBytes(plan.Activations+plan.Drafts), beside, engine.FormatBytes(plan.Budget))
}

func (p *planner) place(t *gguf.Tensor) error {
	if !ops.HasKernels(t.Type) {
		return fmt.Errorf("%w: tensor %s has type %v, which is not known; take a file in another "+
			"quantization, such as Q4_K_M", engine.ErrUnsupported, t.Name, t.Type)
	}
	bytes := p.kit.MatrixBytes(t.Type, t.Rows(), t.RowLen())
	limit := p.kit.Device().Limits().MaxStorageBindingSize
	p.plan.Entries = append(p.plan.Entries, engine.PlanEntry{
		Name: t.Name, Type: t.Type.String(), Bytes: bytes, Tiles: int((bytes + limit - 1) / limit), Where: engine.OnGPU,
	})
	return nil
}

// fit gives up one thing after the other until the budget holds, or nothing is left to
// give up: first checkpoints, which come back where more than they take was given up in the
// end, then tables that are only looked up, which costs a row's read a token, then
// the number of tokens of a prompt that go through the layers together.
func (p *planner) fit() error {
	tables := engine.LookupTables(p.model)
	for ; p.tablesInFile && len(tables) > 0; tables = tables[1:] {
		p.leaveInFile(tables[0])
	}
	for {
		if err := p.dryRun(); err != nil {
			return err
		}
		if p.fits() {
			return p.takeSpare()
		}
		switch {
		case p.plan.Checkpoints > 0:
			p.checkpoints = p.checkpointsThatFit()
		case len(tables) > 0:
			p.leaveInFile(tables[0])
			tables = tables[1:]
		case p.sizing.chunk > leastChunk:
			p.sizing = p.sizing.inChunks(max(p.sizing.chunk/2, leastChunk))
		default:
			return nil
		}
	}
}

func (p *planner) leaveInFile(t *gguf.Tensor) {
	p.plan.Rows += t.Size
	for i := range p.plan.Entries {
		if e := &p.plan.Entries[i]; e.Name == t.Name {
			e.Where, e.Bytes, e.Tiles = engine.RowByRow, t.Size, 0
		}
	}
}

// isOnGPU says whether a plan places a tensor there.
func isOnGPU(p *engine.Plan, t *gguf.Tensor) bool {
	for _, e := range p.Entries {
		if e.Name == t.Name {
			return e.Where == engine.OnGPU
		}
	}
	return false
}

// cacheValues is how keys and values lie here.
func cacheValues(t engine.CacheType) quant.Type { return engine.CacheValues(t, quant.F16) }

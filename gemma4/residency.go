package gemma4

import (
	"errors"
	"fmt"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// Placement says where a tensor lives.
type Placement string

// The placements.
const (
	// OnGPU: all of it in GPU memory, in tiles where a binding is too small.
	OnGPU Placement = "gpu"
	// RowByRow: it stays in the file, and the host fetches a token's row.
	RowByRow Placement = "rows from the file"
	// InMemory: in the program's own memory, to be computed with on the CPU.
	InMemory Placement = "memory"
)

// ErrDoesNotFit says that the model is larger than the memory it may use.
var ErrDoesNotFit = errors.New("the model does not fit")

// Plan says, before the first upload, where each tensor will live and what
// memory that takes. Sizes are in bytes.
type Plan struct {
	Device      string      `json:"device"`
	Entries     []PlanEntry `json:"tensors"`
	Weights     int64       `json:"weights"`             // on the GPU, with the tables that rotations read
	Rows        int64       `json:"rows"`                // left in the file, fetched by row
	Context     int         `json:"context"`             // tokens
	Chunk       int         `json:"chunk,omitempty"`     // tokens of a prompt that are computed together on the GPU: fewer where memory is short
	KVCache     CacheType   `json:"kvCache"`             // what keys and values are kept as
	Cache       int64       `json:"cache"`               // keys and values of one session
	Activations int64       `json:"activations"`         // all else that one session takes: what its programs work in, their parameters, reads under way
	Drafts      int64       `json:"drafts,omitempty"`    // what a session takes beside that once it guesses ahead, as many tokens as is usual
	Assistant   int64       `json:"assistant,omitempty"` // its weights on the GPU
	Adapters    int64       `json:"adapters,omitempty"`  // those in use, with what a session computes of them
	Budget      int64       `json:"budget"`              // 0: no bound was given

	kernels wgslkit.Wanted // of the weights and one session
}

// PlanEntry is one tensor's place.
type PlanEntry struct {
	Name  string    `json:"name"`
	Type  string    `json:"type"`
	Bytes int64     `json:"bytes"` // where it lives
	Tiles int       `json:"tiles"` // bindings it takes on the GPU
	Where Placement `json:"where"`

	tensor *gguf.Tensor
}

// Total is what one session needs on the GPU.
func (p *Plan) Total() int64 {
	return p.Weights + p.Cache + p.Activations + p.Drafts + p.Assistant + p.Adapters
}

func (p *Plan) fits() bool { return p.Budget == 0 || p.Total() <= p.Budget }

func (p *Plan) adaptersText() string {
	if p.Adapters == 0 {
		return ""
	}
	return ", adapters " + size(p.Adapters)
}

func (p *Plan) onGPU(t *gguf.Tensor) bool {
	for _, e := range p.Entries {
		if e.tensor == t {
			return e.Where == OnGPU
		}
	}
	return false
}

// planner places tensors on a device.
type planner struct {
	kit      *ops.Kit
	model    *arch.Model
	sizing   sizing
	adapters *gpuAdapters
	// tablesInFile is OpenOptions.TablesInFile.
	tablesInFile bool
	plan         *Plan
}

// newPlan places every tensor on the GPU; where that is over the budget, the
// embedding tables that are only looked up, largest first, stay in the file.
// Where tablesInFile, they do so anyway. Then prompts are computed fewer tokens at once.
// It fails with ErrDoesNotFit where that is not enough either. Room for the adapters,
// nil for none, is left. What is made beside, on first use, is not counted: room for
// longer drafts than usual, for the logits of every token, for pictures and sound.
func newPlan(kit *ops.Kit, m *arch.Model, s sizing, tablesInFile bool, adapters *gpuAdapters) (*Plan, error) {
	p := &planner{kit: kit, model: m, sizing: s, adapters: adapters, tablesInFile: tablesInFile, plan: &Plan{
		Device: kit.Device().Info().Name, Context: s.context, KVCache: cacheTypeOf(s.cache), Budget: kit.Device().Budget(),
	}}
	for _, t := range textTensors(m) {
		if err := p.place(t); err != nil {
			return nil, err
		}
	}
	if err := p.fit(); err != nil {
		return nil, err
	}
	if b := p.plan.Budget; !p.plan.fits() {
		return p.plan, fmt.Errorf("%w: %s needed (weights %s, cache %s, work %s%s) and %s allowed; use a smaller context or model, or run on the CPU",
			ErrDoesNotFit, size(p.plan.Total()), size(p.plan.Weights), size(p.plan.Cache), size(p.plan.Activations+p.plan.Drafts), p.plan.adaptersText(), size(b))
	}
	return p.plan, nil
}

func (p *planner) place(t *gguf.Tensor) error {
	if !t.Type.Supported() {
		return fmt.Errorf("%w: tensor %s has type %v, which has no GPU kernel; take a file in another quantization, such as Q4_K_M, or run on the CPU",
			ErrUnsupported, t.Name, t.Type)
	}
	bytes := p.kit.MatrixBytes(t.Type, t.Rows(), t.RowLen())
	limit := p.kit.Device().Limits().MaxStorageBindingSize
	p.plan.Entries = append(p.plan.Entries, PlanEntry{
		Name: t.Name, Type: t.Type.String(), Bytes: bytes, Tiles: int((bytes + limit - 1) / limit), Where: OnGPU, tensor: t,
	})
	return nil
}

// fit gives up one thing after the other until the budget holds, or nothing is left to
// give up: first tables that are only looked up, which costs a row's read a token, then
// the number of tokens of a prompt that go through the layers together.
func (p *planner) fit() error {
	tables := lookupTables(p.model)
	for ; p.tablesInFile && len(tables) > 0; tables = tables[1:] {
		p.leaveInFile(tables[0])
	}
	for {
		if err := p.rehearse(); err != nil || p.plan.fits() {
			return err
		}
		switch {
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
		if e := &p.plan.Entries[i]; e.tensor == t {
			e.Where, e.Bytes, e.Tiles = RowByRow, t.Size, 0
		}
	}
}

// lookupTables are the tensors of which a token needs one row, the largest
// first. A tied output projection reads all of token_embd, so it is none then.
func lookupTables(m *arch.Model) []*gguf.Tensor {
	var tables []*gguf.Tensor
	if m.PerLayerTokenEmbd != nil {
		tables = append(tables, m.PerLayerTokenEmbd)
	}
	if m.Output != m.TokenEmbd {
		tables = append(tables, m.TokenEmbd)
	}
	return tables
}

// textTensors lists the tensors of the text model, each once.
func textTensors(m *arch.Model) []*gguf.Tensor {
	all := []*gguf.Tensor{m.TokenEmbd, m.OutputNorm, m.RopeFreqs, m.PerLayerTokenEmbd, m.PerLayerModelProj, m.PerLayerProjNorm}
	if m.Output != m.TokenEmbd {
		all = append(all, m.Output)
	}
	for i := range m.Layers {
		l := &m.Layers[i]
		all = append(all, l.AttnNorm, l.Q, l.K, l.V, l.QNorm, l.KNorm, l.AttnOutput, l.PostAttentionNorm,
			l.FFNNorm, l.Gate, l.Up, l.Down, l.PostFFWNorm, l.InpGate, l.Proj, l.PostNorm, l.OutputScale)
		if e := l.MoE; e != nil {
			all = append(all, e.Router, e.RouterScale, e.GateUp, e.Gate, e.Up, e.Down, e.DownScale, e.PreNorm, e.PostDenseNorm, e.PostNorm)
		}
	}
	present := all[:0]
	for _, t := range all {
		if t != nil {
			present = append(present, t)
		}
	}
	return present
}

// sizing is how large a session's caches and programs are.
type sizing struct {
	context int        // tokens a session holds
	cache   quant.Type // of keys and values
	chunk   int        // prompt tokens computed together
	rows    int        // positions whose logits are computed together when all are wanted
}

func newSizing(c *arch.Config, context int, cache quant.Type, kit *ops.Kit) sizing {
	s := sizing{context: context, cache: cache, chunk: 512}
	limits := kit.Device().Limits()
	if kit.Device().Info().Kind == wgslkit.CPU {
		s.chunk = 128
	}
	s.chunk = min(s.chunk, context)
	s.chunk = max(min(s.chunk, int(limits.MaxStorageBindingSize/int64(4*widestRow(c)))), 1)
	const logitBytes = 64 << 20
	s.rows = max(min(s.chunk, 64, logitBytes/(4*max(c.Vocab, 1))), 1)
	return s
}

// leastChunk is as small as chunks become for want of memory: what they work in is a
// small part of a model then, and products of fewer tokens take hardly less time.
const leastChunk = 64

// inChunks is s with at most n tokens of a prompt computed together.
func (s sizing) inChunks(n int) sizing {
	s.chunk = min(s.chunk, n)
	s.rows = min(s.rows, s.chunk)
	return s
}

// widestRow is the float32 values of a token in the largest buffer of a chunk.
func widestRow(c *arch.Config) int {
	s := sizesOf(c)
	return max(s.ff, s.perLayer, s.qkv, s.expertHidden, 1)
}

// slots is how many positions layer i's cache holds: all of the context, or,
// for a sliding layer, the window with a chunk's new positions beside it, which
// is what the attention over a ring wants even where the context is shorter.
func (s sizing) slots(c *arch.Config, i int) int {
	if !c.IsSliding(i) {
		return s.context
	}
	return c.SlidingWindow + s.chunk
}

// cacheShape is layer i's cache, where it owns one.
func (s sizing) cacheShape(c *arch.Config, i int) ops.CacheShape {
	return ops.CacheShape{Slots: s.slots(c, i), KVHeads: c.KVHeads(i), HeadDim: c.HeadDim(i), Type: s.cache}
}

// size prints bytes as people read them.
func size(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 1<<20:
		return fmt.Sprintf("%.0f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.0f kB", float64(n)/1e3)
}

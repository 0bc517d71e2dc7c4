package gpu

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// adapterWeights are the adapters in use on the GPU. Whatever their number, what reads
// the same values has one A, and one B: theirs lie beside each other, along the rank.
type adapterWeights struct {
	of     []*adapter.Adapter
	layers []layerAdapters
	rank   int // the most of a group

	matrices []*ops.Matrix
	buffers  []*wgslkit.Buffer
}

// layerAdapters are a layer's, by the values that they read. Nil ones change nothing.
type layerAdapters struct{ qkv, output, gateUp, down *lowRank }

func (l *layerAdapters) groups() []*lowRank {
	return slices.DeleteFunc([]*lowRank{l.qkv, l.output, l.gateUp, l.down}, func(g *lowRank) bool { return g == nil })
}

// lowRank is u = A·x for all linears that read the same x, and what each adds of it.
type lowRank struct {
	a       *ops.Matrix     // [rank, in]
	b       *wgslkit.Buffer // [out, rank] of each part, weight and scale within
	in      int
	rank    int              // of all parts
	values  int              // of b
	targets []adapter.Target // of the parts
	parts   []ops.LowRankPart
}

// The parts of what gate and up add.
const (
	partGate = iota
	partUp
)

func (e *Engine) SetAdapters(ctx context.Context, adapters []adapter.Weighted) error {
	if len(adapters) > 0 && e.adapters.isOf(adapters) {
		return e.adapters.weigh(adapters)
	}
	made, err := e.makeAdapters(ctx, adapters)
	if err != nil {
		return err
	}
	e.adapters.release()
	e.adapters = made
	e.adapterBytes.Store(made.bytes(e.kit, e.sizing(e.plan.Context)))
	return nil
}

// makeAdapters uploads adapters, nil for none, beside those that are in use: on an
// error these stay.
func (e *Engine) makeAdapters(ctx context.Context, adapters []adapter.Weighted) (*adapterWeights, error) {
	if len(adapters) == 0 {
		return nil, nil
	}
	made := layAdapters(e.model.Config, adapters)
	if err := e.roomFor(made.bytes(e.kit, e.sizing(e.plan.Context))); err != nil {
		return nil, err
	}
	l := &adapterLoader{kit: e.kit, uploads: e.kit.HoldUploads(), adapters: adapters, made: made}
	err := l.load()
	if err == nil {
		err = l.uploads.Run(ctx, nil)
	}
	if err = errors.Join(err, l.uploads.End()); err != nil {
		made.release()
		return nil, fmt.Errorf("loading adapters: %w", err)
	}
	return made, nil
}

// inUse is what is taken of the device.
func (e *Engine) inUse() (used int64) {
	for _, n := range e.device.Memory() {
		used += n
	}
	return used
}

// roomFor fails where adapters of that many bytes are more than the budget leaves
// beside a session as planned and the adapters in use, or beside what is there.
func (e *Engine) roomFor(bytes int64) error {
	budget, old := e.plan.Budget, e.adapterBytes.Load()
	used := e.inUse()
	if budget > 0 && used+bytes > budget && e.device.GiveUp() {
		used = e.inUse()
	}
	used = max(used, e.plan.Total()-e.plan.Checkpoints+old)
	if budget == 0 || used+bytes <= budget {
		return nil
	}
	also := ""
	if old > 0 {
		also = fmt.Sprintf(", of which %s are adapters that stay in use until then", engine.FormatBytes(old))
	}
	return fmt.Errorf(
		"%w: the adapters take %s in addition to %s%s, and %s are allowed; use fewer of them or a smaller "+
			"context, merge them into the model, or allow more",
		engine.ErrDoesNotFit, engine.FormatBytes(bytes), engine.FormatBytes(used), also, engine.FormatBytes(budget))
}

// bytes is what the adapters take on the GPU: their matrices, and what a session
// computes with them, as the plan counts sessions.
func (g *adapterWeights) bytes(kit *ops.Kit, s sizing) int64 {
	if g == nil {
		return 0
	}
	n := 4 * int64(s.chunk+1) * int64(g.rank)
	for i := range g.layers {
		for _, group := range g.layers[i].groups() {
			n += kit.MatrixBytes(quant.F32, group.rank, group.in) + 4*int64(group.values)
		}
	}
	return n
}

// isOf says whether the same adapters are there, whatever their weights.
func (g *adapterWeights) isOf(adapters []adapter.Weighted) bool {
	return g != nil && slices.EqualFunc(g.of, adapters,
		func(a *adapter.Adapter, b adapter.Weighted) bool { return a == b.Adapter })
}

// weigh puts other weights into the matrices: programs stay as they are.
func (g *adapterWeights) weigh(adapters []adapter.Weighted) error {
	for i := range g.layers {
		for _, group := range g.layers[i].groups() {
			if err := group.b.Write(0, floatBytes(group.stackB(adapters))); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *adapterWeights) release() {
	if g == nil {
		return
	}
	for _, m := range g.matrices {
		m.Release()
	}
	for _, b := range g.buffers {
		b.Release()
	}
}

// layAdapters says what lies where, before anything is uploaded.
func layAdapters(c *arch.Config, adapters []adapter.Weighted) *adapterWeights {
	g := &adapterWeights{layers: make([]layerAdapters, c.Blocks)}
	for _, a := range adapters {
		g.of = append(g.of, a.Adapter)
	}
	for i := range g.layers {
		k := c.QueryDim(i) // the first row of keys behind queries
		g.layers[i] = layerAdapters{
			qkv:    g.lay(i, linearRows{adapter.Q, 0}, linearRows{adapter.K, k}, linearRows{adapter.V, k + c.KVDim(i)}),
			output: g.lay(i, linearRows{adapter.Output, 0}),
			gateUp: g.lay(i, []linearRows{partGate: {adapter.Gate, 0}, partUp: {adapter.Up, 0}}...),
			down:   g.lay(i, linearRows{adapter.Down, 0}),
		}
	}
	return g
}

// linearRows is a linear and its first row among those of its group.
type linearRows struct {
	linear adapter.Linear
	first  int
}

// lay lays out the pairs of linears that read the same values; nil where there are none.
func (g *adapterWeights) lay(layer int, linears ...linearRows) *lowRank {
	group := new(lowRank)
	for _, linear := range linears {
		t := adapter.Target{Layer: layer, Linear: linear.linear}
		part := ops.LowRankPart{First: linear.first, Column: group.rank, B: group.values}
		out := 0
		for _, a := range g.of {
			if p := a.Pairs[t]; p != nil {
				part.Rank += p.Rank
				group.in, out = p.In, p.Out
			}
		}
		part.Rank = fours(part.Rank)
		group.rank += part.Rank
		group.values += out * part.Rank
		group.targets, group.parts = append(group.targets, t), append(group.parts, part)
	}
	if group.rank == 0 {
		return nil
	}
	g.rank = max(g.rank, group.rank)
	return group
}

// fours is n rounded up to what low-rank sums are read in.
func fours(n int) int { return (n + 3) / 4 * 4 }

// adapterLoader uploads adapters.
type adapterLoader struct {
	kit      *ops.Kit
	uploads  *ops.Uploads
	adapters []adapter.Weighted
	made     *adapterWeights
}

func (l *adapterLoader) load() (err error) {
	for i := range l.made.layers {
		for _, g := range l.made.layers[i].groups() {
			if g.b, err = l.vector(g.name(), g.stackB(l.adapters)); err != nil {
				return err
			}
			if g.a, err = l.matrix(g.name(), g.stackA(l.adapters), g.rank); err != nil {
				return err
			}
		}
	}
	return nil
}

// name is that of the group's first linear that is changed.
func (g *lowRank) name() string {
	for i, p := range g.parts {
		if p.Rank > 0 {
			return g.targets[i].String()
		}
	}
	return ""
}

func (l *adapterLoader) vector(name string, values []float32) (*wgslkit.Buffer, error) {
	if size, most := 4*int64(len(values)), l.kit.Device().Limits().MaxStorageBindingSize; size > most {
		return nil, fmt.Errorf("%w: what adapters add to %s takes %d bytes and this device binds %d; take fewer of "+
			"them, or of a smaller rank", wgslkit.ErrLimit, name, size, most)
	}
	b, err := l.kit.Vector(name+" B", wgslkit.Weights, values)
	if err == nil {
		l.made.buffers = append(l.made.buffers, b)
	}
	return b, err
}

func (l *adapterLoader) matrix(name string, values []float32, rows int) (*ops.Matrix, error) {
	m, err := l.uploads.Matrix(name+" A", ops.Stacked, []ops.Source{{
		Name: name + " A", Type: quant.F32, Rows: rows, Cols: len(values) / rows,
		Data: bytes.NewReader(floatBytes(values)),
	}})
	if err == nil {
		l.made.matrices = append(l.made.matrices, m)
	}
	return m, err
}

// stackA is the A of all parts, [rank, in]; what a part's ranks lack is zeros.
func (g *lowRank) stackA(adapters []adapter.Weighted) []float32 {
	a := make([]float32, g.rank*g.in)
	for i, t := range g.targets {
		at := a[g.parts[i].Column*g.in:]
		for _, w := range adapters {
			if p := w.Pairs[t]; p != nil {
				at = at[copy(at, p.A):]
			}
		}
	}
	return a
}

// stackB is the B of all parts.
func (g *lowRank) stackB(adapters []adapter.Weighted) []float32 {
	var b []float32
	for i, t := range g.targets {
		b = append(b, stackB(t, adapters, g.parts[i].Rank)...)
	}
	return b
}

// stackB is a linear's B of all adapters, [out, rank], with weight and scale; what
// their ranks together lack is zeros.
func stackB(t adapter.Target, adapters []adapter.Weighted, rank int) []float32 {
	var b []float32
	first := 0 // column of the adapter's
	for _, w := range adapters {
		p := w.Pairs[t]
		if p == nil {
			continue
		}
		if b == nil {
			b = make([]float32, p.Out*rank)
		}
		for i, v := range p.B {
			b[i/p.Rank*rank+first+i%p.Rank] = w.Weight * p.Scale * v
		}
		first += p.Rank
	}
	return b
}

func floatBytes(values []float32) []byte {
	raw := make([]byte, 0, 4*len(values))
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v))
	}
	return raw
}

// setAdapted makes the buffer that adapters' A·x is in, [width, rank], or takes it
// away for nil.
func (a *activations) setAdapted(kit *ops.Kit, adapters *adapterWeights) (err error) {
	if a == nil {
		return nil
	}
	a.adapted.Release()
	a.adapted = nil
	if adapters != nil {
		a.adapted, err = kit.Device().NewBuffer("adapters' inner values", wgslkit.Activations,
			int64(4*a.width*adapters.rank))
	}
	return err
}

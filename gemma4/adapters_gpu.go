package gemma4

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// gpuAdapters are the adapters in use on the GPU. Whatever their number, what reads
// the same values has one A, and one B: theirs lie beside each other, along the rank.
type gpuAdapters struct {
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
	rank    int
	targets []adapter.Target // of the parts
	parts   []ops.LowRankPart
}

// The parts of what gate and up add.
const (
	partGate = iota
	partUp
)

func (e *gpuEngine) setAdapters(ctx context.Context, adapters []adapter.Weighted) error {
	if len(adapters) > 0 && e.adapters.isOf(adapters) {
		return e.adapters.weigh(adapters)
	}
	var made *gpuAdapters
	if len(adapters) > 0 {
		c := e.model.Config
		l := &adapterLoader{ctx: ctx, kit: e.kit, config: c, adapters: adapters, made: &gpuAdapters{layers: make([]layerAdapters, c.Blocks)}}
		if err := l.load(); err != nil {
			l.made.release()
			return fmt.Errorf("loading adapters: %w", err)
		}
		made = l.made
	}
	e.adapters.release()
	e.adapters = made
	return nil
}

// isOf says whether the same adapters are there, whatever their weights.
func (g *gpuAdapters) isOf(adapters []adapter.Weighted) bool {
	return g != nil && slices.EqualFunc(g.of, adapters, func(a *adapter.Adapter, b adapter.Weighted) bool { return a == b.Adapter })
}

// weigh puts other weights into the matrices: programs stay as they are.
func (g *gpuAdapters) weigh(adapters []adapter.Weighted) error {
	for i := range g.layers {
		for _, group := range g.layers[i].groups() {
			if err := group.b.Write(0, floatBytes(group.stackB(adapters))); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *gpuAdapters) release() {
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

// adapterLoader uploads adapters.
type adapterLoader struct {
	ctx      context.Context
	kit      *ops.Kit
	config   *arch.Config
	adapters []adapter.Weighted
	made     *gpuAdapters
}

func (l *adapterLoader) load() error {
	for _, a := range l.adapters {
		l.made.of = append(l.made.of, a.Adapter)
	}
	c := l.config
	for i := range l.made.layers {
		layer := &l.made.layers[i]
		k := c.QueryDim(i) // the first row of keys behind queries
		for _, g := range []struct {
			into   **lowRank
			linear []linearRows
		}{
			{&layer.qkv, []linearRows{{adapter.Q, 0}, {adapter.K, k}, {adapter.V, k + c.KVDim(i)}}},
			{&layer.output, []linearRows{{adapter.Output, 0}}},
			{&layer.gateUp, []linearRows{partGate: {adapter.Gate, 0}, partUp: {adapter.Up, 0}}},
			{&layer.down, []linearRows{{adapter.Down, 0}}},
		} {
			group, err := l.group(i, g.linear)
			if err != nil {
				return err
			}
			*g.into = group
		}
	}
	return nil
}

// linearRows is a linear and its first row among those of its group.
type linearRows struct {
	linear adapter.Linear
	first  int
}

// group uploads the pairs of linears that read the same values, nil where there
// are none.
func (l *adapterLoader) group(layer int, linears []linearRows) (*lowRank, error) {
	g := new(lowRank)
	var a []float32
	in, b := 0, 0
	for _, linear := range linears {
		t := adapter.Target{Layer: layer, Linear: linear.linear}
		part := ops.LowRankPart{First: linear.first, Column: g.rank, B: b}
		out := 0
		for _, w := range l.adapters {
			if p := w.Pairs[t]; p != nil {
				a = append(a, p.A...)
				part.Rank += p.Rank
				in, out = p.In, p.Out
			}
		}
		padding := fours(part.Rank) - part.Rank
		a = append(a, make([]float32, padding*in)...)
		part.Rank += padding
		g.rank += part.Rank
		b += out * part.Rank
		g.targets, g.parts = append(g.targets, t), append(g.parts, part)
	}
	if g.rank == 0 {
		return nil, nil
	}
	l.made.rank = max(l.made.rank, g.rank)
	var err error
	if g.b, err = l.vector(g.name(), g.stackB(l.adapters)); err != nil {
		return nil, err
	}
	g.a, err = l.matrix(g.name(), a, g.rank)
	return g, err
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

// fours is n rounded up to what low-rank sums are read in.
func fours(n int) int { return (n + 3) / 4 * 4 }

func (l *adapterLoader) vector(name string, values []float32) (*wgslkit.Buffer, error) {
	if size, most := 4*int64(len(values)), l.kit.Device().Limits().MaxStorageBindingSize; size > most {
		return nil, fmt.Errorf("%w: what adapters add to %s takes %d bytes and this device binds %d; take fewer of them, or of a smaller rank", wgslkit.ErrLimit, name, size, most)
	}
	b, err := l.kit.Vector(name+" B", wgslkit.Weights, values)
	if err == nil {
		l.made.buffers = append(l.made.buffers, b)
	}
	return b, err
}

func (l *adapterLoader) matrix(name string, values []float32, rows int) (*ops.Matrix, error) {
	m, err := l.kit.Upload(l.ctx, name+" A", ops.Stacked, []ops.Source{{
		Name: name + " A", Type: quant.F32, Rows: rows, Cols: len(values) / rows, Data: bytes.NewReader(floatBytes(values)),
	}}, nil)
	if err == nil {
		l.made.matrices = append(l.made.matrices, m)
	}
	return m, err
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
func (a *activations) setAdapted(kit *ops.Kit, adapters *gpuAdapters) (err error) {
	if a == nil {
		return nil
	}
	a.adapted.Release()
	a.adapted = nil
	if adapters != nil {
		a.adapted, err = kit.Device().NewBuffer("adapters' inner values", wgslkit.Activations, int64(4*a.width*adapters.rank))
	}
	return err
}

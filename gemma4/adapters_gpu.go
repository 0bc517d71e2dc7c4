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

// gpuAdapters are the adapters in use on the GPU. Whatever their number, a product
// has one pair of matrices: theirs lie beside each other, along the rank.
type gpuAdapters struct {
	of     []*adapter.Adapter
	layers []layerAdapters
	rank   int  // the most of a group
	gated  bool // whether a gated product is changed

	matrices []*ops.Matrix
	buffers  []*wgslkit.Buffer
}

// layerAdapters are a layer's, by the values that they read. Nil ones change nothing.
type layerAdapters struct{ qkv, output, gateUp, down *lowRank }

// lowRank is u = A·x for all linears that read the same x, and y += B·u for each.
type lowRank struct {
	a     *ops.Matrix // [rank, in]
	rank  int
	parts []lowRankPart
}

// lowRankPart is one linear's share: it reads columns first to first+rank of u.
type lowRankPart struct {
	target           adapter.Target
	first, rank, out int
	b                *wgslkit.Buffer // [out, rank], weight and scale within
}

func (e *gpuEngine) setAdapters(ctx context.Context, adapters []adapter.Weighted) error {
	if len(adapters) > 0 && e.adapters.isOf(adapters) {
		return e.adapters.weigh(adapters)
	}
	var made *gpuAdapters
	if len(adapters) > 0 {
		l := &adapterLoader{ctx: ctx, kit: e.kit, adapters: adapters, made: &gpuAdapters{layers: make([]layerAdapters, e.model.Config.Blocks)}}
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
		l := &g.layers[i]
		for _, group := range []*lowRank{l.qkv, l.output, l.gateUp, l.down} {
			if group == nil {
				continue
			}
			for _, p := range group.parts {
				if err := p.b.Write(0, floatBytes(stackB(p.target, adapters))); err != nil {
					return err
				}
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
	adapters []adapter.Weighted
	made     *gpuAdapters
}

func (l *adapterLoader) load() error {
	for _, a := range l.adapters {
		l.made.of = append(l.made.of, a.Adapter)
	}
	for i := range l.made.layers {
		layer := &l.made.layers[i]
		for _, g := range []struct {
			into    **lowRank
			linears []adapter.Linear
		}{
			{&layer.qkv, []adapter.Linear{adapter.Q, adapter.K, adapter.V}},
			{&layer.output, []adapter.Linear{adapter.Output}},
			{&layer.gateUp, []adapter.Linear{adapter.Gate, adapter.Up}},
			{&layer.down, []adapter.Linear{adapter.Down}},
		} {
			group, err := l.group(i, g.linears)
			if err != nil {
				return err
			}
			*g.into = group
		}
		l.made.gated = l.made.gated || layer.gateUp != nil
	}
	return nil
}

// group uploads the pairs of linears that read the same values, nil where there
// are none.
func (l *adapterLoader) group(layer int, linears []adapter.Linear) (*lowRank, error) {
	g := new(lowRank)
	var a []float32
	for _, linear := range linears {
		t := adapter.Target{Layer: layer, Linear: linear}
		part := lowRankPart{target: t, first: g.rank}
		for _, w := range l.adapters {
			if p := w.Pairs[t]; p != nil {
				a = append(a, p.A...)
				part.rank += p.Rank
				part.out = p.Out
			}
		}
		if part.rank == 0 {
			continue
		}
		var err error
		if part.b, err = l.vector(t, stackB(t, l.adapters)); err != nil {
			return nil, err
		}
		g.rank += part.rank
		g.parts = append(g.parts, part)
	}
	if g.rank == 0 {
		return nil, nil
	}
	l.made.rank = max(l.made.rank, g.rank)
	var err error
	g.a, err = l.matrix(g.parts[0].target, a, g.rank)
	return g, err
}

func (l *adapterLoader) vector(t adapter.Target, values []float32) (*wgslkit.Buffer, error) {
	if size, most := 4*int64(len(values)), l.kit.Device().Limits().MaxStorageBindingSize; size > most {
		return nil, fmt.Errorf("%w: what adapters add to %s takes %d bytes and this device binds %d; take fewer of them, or of a smaller rank", wgslkit.ErrLimit, t, size, most)
	}
	b, err := l.kit.Vector(t.String()+" B", wgslkit.Weights, values)
	if err == nil {
		l.made.buffers = append(l.made.buffers, b)
	}
	return b, err
}

func (l *adapterLoader) matrix(t adapter.Target, values []float32, rows int) (*ops.Matrix, error) {
	m, err := l.kit.Upload(l.ctx, t.String()+" A", ops.Stacked, []ops.Source{{
		Name: t.String() + " A", Type: quant.F32, Rows: rows, Cols: len(values) / rows, Data: bytes.NewReader(floatBytes(values)),
	}}, nil)
	if err == nil {
		l.made.matrices = append(l.made.matrices, m)
	}
	return m, err
}

// stackB is a linear's B of all adapters, [out, Σ rank], with weight and scale.
func stackB(t adapter.Target, adapters []adapter.Weighted) []float32 {
	var pairs []*adapter.Pair
	var factors []float32
	values := 0
	for _, w := range adapters {
		if p := w.Pairs[t]; p != nil {
			pairs, factors = append(pairs, p), append(factors, w.Weight*p.Scale)
			values += len(p.B)
		}
	}
	b := make([]float32, 0, values)
	for o := range pairs[0].Out {
		for i, p := range pairs {
			for _, v := range p.B[o*p.Rank : (o+1)*p.Rank] {
				b = append(b, factors[i]*v)
			}
		}
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

// adaptedRows are the buffers that products with adapters use besides.
type adaptedRows struct {
	u      *wgslkit.Buffer // [width, rank]
	normed *wgslkit.Buffer // [width, d]: what a gated product reads
	gateUp *wgslkit.Buffer // [width, 2·ff]: what it gives before the gate
}

// setAdapted makes the buffers for adapters, or takes them away for nil.
func (a *activations) setAdapted(kit *ops.Kit, c *arch.Config, adapters *gpuAdapters) error {
	if a == nil {
		return nil
	}
	a.adapted.release()
	a.adapted = nil
	if adapters == nil {
		return nil
	}
	rows, s := new(adaptedRows), sizesOf(c)
	for _, want := range []struct {
		into   **wgslkit.Buffer
		label  string
		n      int
		wanted bool
	}{
		{&rows.u, "adapters' inner values", adapters.rank, true},
		{&rows.normed, "normalised input", s.d, adapters.gated},
		{&rows.gateUp, "gate and up", 2 * s.ff, adapters.gated},
	} {
		if !want.wanted {
			continue
		}
		b, err := kit.Device().NewBuffer(want.label, wgslkit.Activations, int64(4*a.width*want.n))
		if err != nil {
			rows.release()
			return err
		}
		*want.into = b
	}
	a.adapted = rows
	return nil
}

func (r *adaptedRows) release() {
	if r == nil {
		return
	}
	for _, b := range []*wgslkit.Buffer{r.u, r.normed, r.gateUp} {
		b.Release()
	}
}

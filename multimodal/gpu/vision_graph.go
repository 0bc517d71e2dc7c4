package gpu

import (
	"math"

	"github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// visionBuffers are what lies between the ops of programs of up to width patches.
type visionBuffers struct {
	buffers
	width, places int

	state, softState *wgslkit.Buffer
	positions        *wgslkit.Buffer // [places, n] of the columns, then of the rows
	x, other         *wgslkit.Buffer // [width, n] the residual stream
	block            *wgslkit.Buffer // [width, n] what half a block gives
	// [width, patch values], then [rows, widest]: queries, keys and values, or the hidden layer
	wide   *wgslkit.Buffer
	gate   *wgslkit.Buffer // [rows, ff], nil where no gate stands by itself
	pooled *wgslkit.Buffer // [width / pool², n]
	soft   *wgslkit.Buffer // [width / pool², d]

	// rows is how many of the patches go through wide at once. Where those are not
	// all, windows are the states of the first rows of them, the next, and so on.
	rows    int
	windows []*wgslkit.Buffer
}

// windowStep is what the rows of a window are a multiple of: a tile of a product.
const windowStep = 64

// windowRows is how many of width rows of so many values a binding of limit bytes
// takes: all of them, or about equal shares.
func windowRows(limit int64, width, values int) int {
	most := int(limit / int64(4*values))
	if most >= width {
		return width
	}
	most = max(most/windowStep, 1) * windowStep
	share := ceilDiv(width, ceilDiv(width, most))
	return ceilDiv(share, windowStep) * windowStep
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }

// newVisionBuffers makes them for images of up to width patches; those that hold a
// layer's widest rows get at most limit bytes each.
func newVisionBuffers(device *wgslkit.Device, a *arch.Vision, w *visionWeights, width int,
	limit int64) (*visionBuffers, error) {
	b := &visionBuffers{buffers: buffers{device: device}, width: width}
	// Columns and rows together are most where one of them is least.
	b.places = min(width/a.Pool+a.Pool, 2*a.MaxSide)
	soft := width / a.Pool / a.Pool
	b.state, b.softState = b.buffers.state(), b.buffers.state()
	b.positions = b.floats("positions", b.places*a.Width)
	b.x, b.other, b.block = b.floats("x", width*a.Width), b.floats("x'", width*a.Width),
		b.floats("block", width*a.Width)
	widest := max(3*a.Width, a.FeedForward)
	b.rows = windowRows(limit, width, widest)
	for first := 0; b.rows < width && first < width; first += b.rows {
		b.windows = append(b.windows, b.buffers.state())
	}
	b.wide = b.floats("patches, qkv and hidden", max(width*a.PatchValues(), b.rows*widest))
	for i := range w.layers {
		if w.layers[i].gateUp.both.w == nil && b.gate == nil {
			b.gate = b.floats("gate", b.rows*a.FeedForward)
		}
	}
	b.pooled, b.soft = b.floats("pooled", soft*a.Width), b.floats("soft tokens", soft*a.EmbeddingLength)
	if b.err != nil {
		b.release()
		return nil, b.err
	}
	return b, nil
}

// tell tells the programs an image's size.
func (b *visionBuffers) tell(patches, columns, pool int) error {
	for i, state := range b.windows {
		if err := at(state, min(max(patches-i*b.rows, 0), b.rows), columns); err != nil {
			return err
		}
	}
	if err := at(b.state, patches, columns); err != nil {
		return err
	}
	return at(b.softState, patches/(pool*pool), columns/pool)
}

// visionGraph spells the tower for one recorded program, in the order of the
// model's page.
type visionGraph struct {
	stream
	config  *arch.Vision
	weights *visionWeights
	act     *visionBuffers
}

func recordVision(kit *ops.Kit, a *arch.Vision, w *visionWeights,
	act *visionBuffers) (body, end *ops.Recording, marks []int, err error) {
	g := &visionGraph{
		stream: stream{Recorder: kit.Record("image tower", act.width, act.state), x: act.x, other: act.other,
			size: a.Width, eps: a.Eps},
		config: a, weights: w, act: act,
	}
	g.embed()
	for i := range w.layers {
		g.layer(&w.layers[i])
		marks = append(marks, g.Recorded())
	}
	g.pool()
	marks[len(marks)-1] = g.Recorded()
	if body, err = g.Finish(); err != nil {
		return nil, nil, nil, err
	}
	end, err = recordProjection(kit, "image tower's projection", act.softState, act.width/a.Pool/a.Pool, w.projection,
		act.pooled, act.soft, a.Eps)
	if err != nil {
		body.Release()
		return nil, nil, nil, err
	}
	return body, end, marks, nil
}

// embed is x = patch_embd·(2v − 1) + position_embd[column] + position_embd[row],
// where the positions hold what −1 comes to.
func (g *visionGraph) embed() {
	g.Linear(ops.Linear{Label: "patch_embd", W: g.weights.patchEmbd, In: ops.Input{X: g.act.wide}, Out: g.x})
	g.GridEmbed(ops.GridEmbed{Label: "position_embd", X: g.x, Table: g.act.positions, Size: g.config.Width, Scale: 2})
}

// layer is x += rms(attn(rms(x; ln1)); attn_post_norm), then
// x += rms(mlp(rms(x; ln2)); ffn_post_norm), then x·out_scale.
func (g *visionGraph) layer(w *visionLayer) {
	g.attention(w)
	g.feedForward(w)
}

// eachWindow records what goes through wide for the patches from first on: for all
// of them at once, or window by window.
func (g *visionGraph) eachWindow(record func(first int)) {
	if len(g.act.windows) == 0 {
		record(0)
		return
	}
	for i, state := range g.act.windows {
		first := i * g.act.rows
		g.Window(first, g.act.rows, state, func() { record(first) })
	}
}

// inputs tells what products of rms(x; norm) read, one after another, for the
// patches from first on. Windows find it made, in g.other, before the first.
func (g *visionGraph) inputs(norm *wgslkit.Buffer) func(first int) ops.Input {
	if len(g.act.windows) == 0 {
		next := g.input(norm)
		return func(int) ops.Input {
			in := next
			next = g.again(norm)
			return in
		}
	}
	g.settle("post_norm")
	g.RMSNorm(ops.RMSNorm{Label: "norm", X: g.x, Y: g.other, Weight: norm, Size: g.size, Eps: g.eps})
	normed := g.other
	return func(first int) ops.Input { return ops.Input{X: normed, Offset: first * g.size} }
}

func (g *visionGraph) attention(w *visionLayer) {
	c := g.config
	in := g.inputs(w.attnNorm)
	attended := g.other // free until the next sum, when all of in has been read
	o := ops.FullAttention{
		Label: "attention", In: ops.All(g.act.wide), QNorm: w.qNorm, KNorm: w.kNorm, Eps: c.Eps, Rope: g.weights.rope,
		Heads: c.Heads, HeadDim: c.HeadDim(), Out: attended,
	}
	g.eachWindow(func(first int) {
		for _, p := range w.qkv {
			g.Linear(ops.Linear{Label: "attn_qkv", W: p.w, Bounds: p.bounds, In: in(first), Out: g.act.wide,
				OutOffset: p.offset, OutStride: 3 * c.Width})
		}
		g.FullAttentionHeads(o, g.act.width)
	})
	g.FullAttentionOfHeads(o)
	g.Linear(ops.Linear{Label: "attn_out", W: w.attnOutput.w, Bounds: w.attnOutput.bounds, In: ops.Input{X: attended},
		Out: g.act.block})
	g.pend(g.act.block, w.attnPostNorm, 1)
}

// feedForward has mlp(h) = ffn_down·(gelu(ffn_gate·h) ⊙ (ffn_up·h)).
func (g *visionGraph) feedForward(w *visionLayer) {
	in := g.inputs(w.ffnNorm)
	g.eachWindow(func(first int) {
		if both := w.gateUp.both; both.w != nil {
			g.Linear(ops.Linear{Label: "ffn_gate_up", W: both.w, Bounds: both.bounds, In: in(first), Out: g.act.wide,
				Act: ops.GELU, Gated: true})
		} else {
			gate, up := w.gateUp.gate, w.gateUp.up
			g.Linear(ops.Linear{Label: "ffn_gate", W: gate.w, Bounds: gate.bounds, In: in(first), Out: g.act.gate,
				Act: ops.GELU})
			g.Linear(ops.Linear{Label: "ffn_up", W: up.w, Bounds: up.bounds, In: in(first), Out: g.act.wide,
				Mul: g.act.gate})
		}
		g.Linear(ops.Linear{Label: "ffn_down", W: w.down.w, Bounds: w.down.bounds, In: ops.Input{X: g.act.wide},
			Out: g.act.block, OutOffset: first * g.size})
	})
	g.pend(g.act.block, w.ffnPostNorm, w.outputScale)
}

// pool averages squares of patches and multiplies by √n; where the tower
// standardises, x becomes (x − std_bias) ⊙ std_scale.
func (g *visionGraph) pool() {
	c := g.config
	g.settle("ffn_post_norm")
	g.GridPool(ops.GridPool{
		Label: "pool", X: g.x, Out: g.act.pooled, Size: c.Width, Pool: c.Pool,
		Scale: float32(math.Sqrt(float64(c.Width))),
		Bias:  g.weights.stdBias, Factor: g.weights.stdScale,
	})
}

// recordProjection records soft = input_projection·rms(x), with no norm weight.
func recordProjection(kit *ops.Kit, label string, state *wgslkit.Buffer, width int, p product, x, soft *wgslkit.Buffer,
	eps float32) (*ops.Recording, error) {
	r := kit.Record(label, width, state)
	r.Linear(ops.Linear{Label: "input_projection", W: p.w, Bounds: p.bounds,
		In: ops.Input{X: x, Norm: &ops.Norm{Eps: eps}}, Out: soft})
	return r.Finish()
}

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
	wide             *wgslkit.Buffer // [width, widest]: patches, then queries, keys and values, or the hidden layer
	gate             *wgslkit.Buffer // [width, ff], nil where no gate stands by itself
	pooled           *wgslkit.Buffer // [width / pool², n]
	soft             *wgslkit.Buffer // [width / pool², d]
}

func newVisionBuffers(device *wgslkit.Device, a *arch.Vision, w *visionWeights, width int) (*visionBuffers, error) {
	b := &visionBuffers{buffers: buffers{device: device}, width: width}
	// Columns and rows together are most where one of them is least.
	b.places = min(width/a.Pool+a.Pool, 2*a.MaxSide)
	soft := width / a.Pool / a.Pool
	b.state, b.softState = b.buffers.state(), b.buffers.state()
	b.positions = b.floats("positions", b.places*a.Width)
	b.x, b.other, b.block = b.floats("x", width*a.Width), b.floats("x'", width*a.Width), b.floats("block", width*a.Width)
	b.wide = b.floats("patches, qkv and hidden", width*max(a.PatchValues(), 3*a.Width, a.FeedForward))
	for i := range w.layers {
		if w.layers[i].gateUp.both.w == nil && b.gate == nil {
			b.gate = b.floats("gate", width*a.FeedForward)
		}
	}
	b.pooled, b.soft = b.floats("pooled", soft*a.Width), b.floats("soft tokens", soft*a.EmbeddingLength)
	if b.err != nil {
		b.release()
		return nil, b.err
	}
	return b, nil
}

// visionGraph spells the tower for one recorded program, in the order of the
// model's page.
type visionGraph struct {
	stream
	config  *arch.Vision
	weights *visionWeights
	act     *visionBuffers
}

func recordVision(kit *ops.Kit, a *arch.Vision, w *visionWeights, act *visionBuffers) (body, end *ops.Recording, marks []int, err error) {
	g := &visionGraph{
		stream: stream{Recorder: kit.Record("image tower", act.width, act.state), x: act.x, other: act.other, size: a.Width, eps: a.Eps},
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
	end, err = recordProjection(kit, "image tower's projection", act.softState, act.width/a.Pool/a.Pool, w.projection, act.pooled, act.soft, a.Eps)
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

func (g *visionGraph) attention(w *visionLayer) {
	c := g.config
	g.products("attn_qkv", w.qkv, w.attnNorm, g.act.wide, 3*c.Width)
	attended := g.other // free until the next sum
	g.FullAttention(ops.FullAttention{
		Label: "attention", In: ops.All(g.act.wide), QNorm: w.qNorm, KNorm: w.kNorm, Eps: c.Eps, Rope: g.weights.rope,
		Heads: c.Heads, HeadDim: c.HeadDim(), Out: attended,
	})
	g.Linear(ops.Linear{Label: "attn_out", W: w.attnOutput.w, Bounds: w.attnOutput.bounds, In: ops.Input{X: attended}, Out: g.act.block})
	g.pend(g.act.block, w.attnPostNorm, 1)
}

// feedForward has mlp(h) = ffn_down·(gelu(ffn_gate·h) ⊙ (ffn_up·h)).
func (g *visionGraph) feedForward(w *visionLayer) {
	in := g.input(w.ffnNorm)
	if both := w.gateUp.both; both.w != nil {
		g.Linear(ops.Linear{Label: "ffn_gate_up", W: both.w, Bounds: both.bounds, In: in, Out: g.act.wide, Act: ops.GELU, Gated: true})
	} else {
		gate, up := w.gateUp.gate, w.gateUp.up
		g.Linear(ops.Linear{Label: "ffn_gate", W: gate.w, Bounds: gate.bounds, In: in, Out: g.act.gate, Act: ops.GELU})
		g.Linear(ops.Linear{Label: "ffn_up", W: up.w, Bounds: up.bounds, In: g.again(w.ffnNorm), Out: g.act.wide, Mul: g.act.gate})
	}
	g.Linear(ops.Linear{Label: "ffn_down", W: w.down.w, Bounds: w.down.bounds, In: ops.Input{X: g.act.wide}, Out: g.act.block})
	g.pend(g.act.block, w.ffnPostNorm, w.outputScale)
}

// pool averages squares of patches and multiplies by √n; where the tower
// standardises, x becomes (x − std_bias) ⊙ std_scale.
func (g *visionGraph) pool() {
	c := g.config
	g.settle("ffn_post_norm")
	g.GridPool(ops.GridPool{
		Label: "pool", X: g.x, Out: g.act.pooled, Size: c.Width, Pool: c.Pool, Scale: float32(math.Sqrt(float64(c.Width))),
		Bias: g.weights.stdBias, Factor: g.weights.stdScale,
	})
}

// recordProjection records soft = input_projection·rms(x), with no norm weight.
func recordProjection(kit *ops.Kit, label string, state *wgslkit.Buffer, width int, p product, x, soft *wgslkit.Buffer, eps float32) (*ops.Recording, error) {
	r := kit.Record(label, width, state)
	r.Linear(ops.Linear{Label: "input_projection", W: p.w, Bounds: p.bounds, In: ops.Input{X: x, Norm: &ops.Norm{Eps: eps}}, Out: soft})
	return r.Finish()
}

package gpu

import (
	"github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// audioBuffers are what lies between the ops of programs of up to frames mel
// frames.
type audioBuffers struct {
	buffers
	frames int

	// The states of programs over mel frames, over every second, every fourth.
	frameState, halfState, state *wgslkit.Buffer
	mel                          *wgslkit.Buffer    // [frames, MelBins]
	conv                         [2]*wgslkit.Buffer // [frames/2, MelBins/2, C₀], [tokens, MelBins/4, C₁]
	x, other                     *wgslkit.Buffer    // [tokens, n] the residual stream
	block                        *wgslkit.Buffer    // [tokens, n] what a part of a block gives
	// [tokens, widest]: the hidden layer, queries, keys and values, or gated inputs
	wide   *wgslkit.Buffer
	output *wgslkit.Buffer // [tokens, m]
	soft   *wgslkit.Buffer // [tokens, d]
}

func newAudioBuffers(device *wgslkit.Device, a *arch.Audio, frames int) (*audioBuffers, error) {
	b := &audioBuffers{buffers: buffers{device: device}, frames: frames}
	tokens := arch.AudioTokens(frames)
	b.frameState, b.halfState, b.state = b.buffers.state(), b.buffers.state(), b.buffers.state()
	b.mel = b.floats("mel frames", frames*arch.MelBins)
	b.conv[0] = b.floats("first convolution", (frames+1)/2*arch.MelBins/2*a.Conv[0].Out)
	b.conv[1] = b.floats("second convolution", tokens*arch.MelBins/4*a.Conv[1].Out)
	b.x, b.other, b.block = b.floats("x", tokens*a.Width), b.floats("x'", tokens*a.Width),
		b.floats("block", tokens*a.Width)
	b.wide = b.floats("hidden, qkv and gated", tokens*max(a.FeedForward, 3*a.Width))
	b.output, b.soft = b.floats("output", tokens*a.OutputWidth), b.floats("soft tokens", tokens*a.EmbeddingLength)
	if b.err != nil {
		b.release()
		return nil, b.err
	}
	return b, nil
}

// audioGraph spells the tower for one recorded program, in the order of the
// model's page.
type audioGraph struct {
	stream
	config  *arch.Audio
	weights *audioWeights
	act     *audioBuffers
}

// audioPrograms run one after another: the first convolution, over frames; the
// second, over what the first leaves of them; the rest, over soft tokens.
type audioPrograms struct {
	first, second, body *ops.Recording
	marks               []int // where body's blocks end
}

func recordAudio(kit *ops.Kit, a *arch.Audio, w *audioWeights, act *audioBuffers) (p *audioPrograms, err error) {
	p = &audioPrograms{}
	defer func() {
		if err != nil {
			p.release()
		}
	}()
	if p.first, err = recordFirstConv(kit, a, w, act); err != nil {
		return nil, err
	}
	if p.second, err = recordSecondConv(kit, a, w, act); err != nil {
		return nil, err
	}
	g := &audioGraph{
		stream: stream{Recorder: kit.Record("audio tower", arch.AudioTokens(act.frames), act.state), x: act.x,
			other: act.other, size: a.Width, eps: a.Eps},
		config: a, weights: w, act: act,
	}
	g.embed()
	for i := range w.layers {
		g.layer(&w.layers[i])
		p.marks = append(p.marks, g.Recorded())
	}
	g.end()
	p.marks[len(p.marks)-1] = g.Recorded()
	p.body, err = g.Finish()
	return p, err
}

func (p *audioPrograms) release() {
	if p != nil {
		releaseAll(p.first, p.second, p.body)
	}
}

// Of both convolutions, rows beyond those that hold sound do not exist, which is
// what the model's masks come to: it takes them for zeros.

func recordFirstConv(kit *ops.Kit, a *arch.Audio, w *audioWeights, act *audioBuffers) (*ops.Recording, error) {
	r := kit.Record("audio tower's first convolution", act.frames, act.frameState)
	r.Conv2D(ops.Conv2D{Label: "conv1d.0", X: act.mel, W: w.conv[0].w, Y: act.conv[0], Bins: arch.MelBins, Inputs: 1,
		Outputs: a.Conv[0].Out})
	return r.Finish()
}

func recordSecondConv(kit *ops.Kit, a *arch.Audio, w *audioWeights, act *audioBuffers) (*ops.Recording, error) {
	const bins = arch.MelBins / 2
	r := kit.Record("audio tower's second convolution", (act.frames+1)/2, act.halfState)
	r.LayerNormReLU(ops.LayerNormReLU{Label: "conv1d.0.norm", X: act.conv[0], Weight: w.conv[0].norm, Groups: bins,
		Size: a.Conv[0].Out, Eps: a.Eps})
	r.Conv2D(ops.Conv2D{Label: "conv1d.1", X: act.conv[0], W: w.conv[1].w, Y: act.conv[1], Bins: bins,
		Inputs: a.Conv[0].Out, Outputs: a.Conv[1].Out})
	return r.Finish()
}

// embed is x = pre_encode.out·relu(LayerNorm(conv)), a row of which holds the
// channels of one mel bin after those of another.
func (g *audioGraph) embed() {
	c, act := g.config, g.act
	g.LayerNormReLU(ops.LayerNormReLU{
		Label: "conv1d.1.norm", X: act.conv[1], Weight: g.weights.conv[1].norm, Groups: arch.MelBins / 4,
		Size: c.Conv[1].Out, Eps: c.Eps,
	})
	g.linear("pre_encode.out", g.weights.input, ops.Input{X: act.conv[1]}, g.x)
}

// layer is one block: half a feed-forward, attention, a light convolution, the
// other half, and a norm of the stream itself.
func (g *audioGraph) layer(w *audioLayer) {
	g.halfStep("ffn", &w.ffn1)
	g.attention(w)
	g.lightConv(w)
	g.halfStep("ffn_1", &w.ffn2)
	g.settle("ffn_post_norm_1")
	g.RMSNorm(ops.RMSNorm{Label: "layer_pre_norm", X: g.x, Y: g.other, Weight: w.norm, Size: g.config.Width,
		Eps: g.config.Eps})
	g.x, g.other = g.other, g.x
}

// halfStep is x += 0.5·rms(ffn_down·silu(ffn_up·rms(x; ffn_norm)); ffn_post_norm).
func (g *audioGraph) halfStep(label string, w *halfStep) {
	g.Linear(ops.Linear{Label: label + "_up", W: w.up.w, Bounds: w.up.bounds, In: g.input(w.norm), Out: g.act.wide,
		Act: ops.SiLU})
	g.linear(label+"_down", w.down, ops.Input{X: g.act.wide}, g.act.block)
	g.pend(g.act.block, w.postNorm, 1)
}

// attention is x += rms(attn_out·attn(rms(x; ln1)); ln2).
func (g *audioGraph) attention(w *audioLayer) {
	c := g.config
	g.products("attn_qkv", w.qkv, w.attnNorm, g.act.wide, 3*c.Width)
	attended := g.other // free until the next sum
	g.RelativeAttention(ops.RelativeAttention{
		Label: "attention", In: ops.All(g.act.wide), QScale: w.qScale, KScale: c.KeyScale(), Distance: w.distances,
		Window: arch.AudioWindow, Softcap: arch.AudioSoftcap, Heads: c.Heads, HeadDim: c.HeadDim(), Out: attended,
	})
	g.linear("attn_out", w.attnOutput, ops.Input{X: attended}, g.act.block)
	g.pend(g.act.block, w.attnPostNorm, 1)
}

// lightConv is x += conv_pw2·silu(rms(conv_dw(glu(conv_pw1·rms(x; conv_norm))); norm_conv)).
func (g *audioGraph) lightConv(w *audioLayer) {
	c := g.config
	g.linear("conv_pw1", w.convIn, g.input(w.convNorm), g.act.wide)
	convolved := g.other // free until the next sum
	g.GatedConv(ops.GatedConv{
		Label: "conv_dw", X: g.act.wide, W: w.depthwise, Norm: w.convPostNorm, Out: convolved, Size: c.Width,
		Taps: c.Kernel, Eps: c.Eps,
	})
	g.linear("conv_pw2", w.convOut, ops.Input{X: convolved}, g.act.block)
	g.Add(ops.Add{Label: "conv_pw2", X: g.x, Y: g.act.block, Size: c.Width})
}

// end is soft = input_projection·rms(fc·x + bias).
func (g *audioGraph) end() {
	g.linear("fc", g.weights.output, ops.Input{X: g.x}, g.act.output)
	g.linear("input_projection", g.weights.projection, ops.Input{X: g.act.output, Norm: &ops.Norm{Eps: g.config.Eps}},
		g.act.soft)
}

func (g *audioGraph) linear(label string, p product, in ops.Input, out *wgslkit.Buffer) {
	g.Linear(ops.Linear{Label: label, W: p.w, Bounds: p.bounds, In: in, Out: out})
}

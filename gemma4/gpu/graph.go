package gpu

import (
	"math"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// graph spells the model for one recorded program, in the order of the model's
// page: embedding, layers, head. Widths differ between programs (a prompt's
// chunk, one token), the graph does not.
type graph struct {
	*ops.Recorder
	config  *arch.Config
	weights *Weights
	caches  []*ops.KVCache // by layer; a shared-KV layer has its donor's
	act     *activations
	// adapters change products, where they are not nil.
	adapters *adapterWeights
	media    bool // soft tokens stand among the tokens
	rows     bool // each token is of another text

	// x is the residual stream, other its second buffer: an op that adds to the
	// stream while others still read it writes there, and the two change places.
	x, other *wgslkit.Buffer
	// pending is what the last block gave and nobody has added to x yet: the
	// next product adds it on its way.
	pending *ops.Residual
}

// embed is x = token_embd[t]·√d, or a soft token's vector as it is, and, with
// it, each layer's own input.
func (g *graph) embed() {
	c, w := g.config, g.weights
	if w.tokenEmbd != nil {
		g.Embed(ops.Embed{Label: "token_embd", Table: w.tokenEmbd, IDs: g.act.tokens, Out: g.x, Scale: c.EmbedScale()})
	}
	if g.media {
		s := g.act.soft
		g.Overlay(ops.Overlay{Label: "soft tokens", Marks: s.marks, Rows: s.rows, Out: g.x, Size: c.EmbeddingLength})
	}
	if c.PerLayerDim > 0 {
		g.perLayerInputs()
	}
}

// perLayerInputs is pli = (rms(per_layer_model_proj·x / √d) + per_layer_token_embd[t]·√P) / √2.
func (g *graph) perLayerInputs() {
	c, w := g.config, g.weights
	if w.perLayerTokenEmbd != nil {
		g.Embed(ops.Embed{Label: "per_layer_token_embd", Table: w.perLayerTokenEmbd, IDs: g.act.tokens,
			Out: g.act.perLayerRows, Scale: c.PerLayerScale()})
	}
	g.Linear(ops.Linear{Label: "per_layer_model_proj", W: w.perLayerModelProj, In: ops.Input{X: g.x},
		Out: g.act.perLayerProj})
	g.NormAdd(ops.NormAdd{
		Label: "per_layer_inputs", A: g.act.perLayerProj, B: g.act.perLayerRows, Out: g.act.perLayerInputs,
		Weight: w.perLayerProjNorm, Groups: c.Blocks, Size: c.PerLayerDim, Eps: c.Eps,
		AScale: 1 / c.EmbedScale(), BScale: 1, OutScale: float32(1 / math.Sqrt2),
	})
}

// layer is one block: attention, feed-forward, per-layer input, scale.
func (g *graph) layer(i int) {
	w := &g.weights.layers[i]
	g.attention(i, w)
	if w.moe != nil {
		g.experts(i, w)
	} else {
		g.feedForward(i, w)
	}
	if g.config.PerLayerDim > 0 {
		g.perLayer(i, w)
	}
	g.pending.Scale = w.outputScale
}

// attention is x += rms(attn(rms(x; attn_norm)); post_attention_norm).
func (g *graph) attention(i int, w *layerWeights) {
	c := g.config
	in, low := g.adapted(g.adaptersOf(i).qkv, g.input(w.attnNorm))
	for _, p := range w.qkv {
		g.Linear(ops.Linear{
			Label: "attn_qkv", W: p.matrix, In: in, LowRank: low.From(p.offset),
			Out: g.act.qkv, OutOffset: p.offset, OutStride: w.qkvWidth,
		})
		in = in.Again()
	}
	at := func(offset int) ops.Slice { return ops.Slice{Buffer: g.act.qkv, Offset: offset, Stride: w.qkvWidth} }
	attend := ops.Attention{
		Label: "attention", Q: at(0), QNorm: w.qNorm, Eps: c.Eps, Rope: w.rope, Heads: c.Heads, Cache: g.caches[i],
		Scale: c.ScoreScale(),
		Out:   g.act.attended,
		Rows:  g.rows,
	}
	if c.HasOwnKV(i) {
		k, v := c.QueryDim(i), c.QueryDim(i)+c.KVDim(i)
		if c.KEqualsV(i) {
			v = k
		}
		attend.Store = &ops.StoreKV{Label: "store_kv", K: at(k), V: at(v), KNorm: w.kNorm, PlainV: c.PlainValues,
			Eps: c.Eps, Rope: w.rope, Cache: g.caches[i], Rows: g.rows}
	}
	if c.IsSliding(i) {
		attend.Window = c.SlidingWindow
	}
	if g.media && c.SpansImages(i) {
		attend.Spans, attend.WholeSpans = g.act.soft.spans, c.Images == arch.WholeImages
	}
	attended := ops.Input{X: g.act.attended}
	if partials := g.Attention(attend); partials != nil {
		attended = ops.Input{Merge: partials}
	}
	attended, low = g.adapted(g.adaptersOf(i).output, attended)
	g.Linear(ops.Linear{Label: "attn_output", W: w.attnOutput, In: attended, Out: g.act.block, LowRank: low})
	g.pend(g.act.block, w.postAttentionNorm)
}

// feedForward is x += rms(ffn_down·(gelu(ffn_gate·h) ⊙ (ffn_up·h)); post_ffw_norm), h = rms(x; ffn_norm).
func (g *graph) feedForward(i int, w *layerWeights) {
	g.dense(i, w)
	g.pend(g.act.block, w.postFFWNorm)
}

// dense is the gated feed-forward up to its down projection, into act.block.
func (g *graph) dense(i int, w *layerWeights) {
	g.gate(i, w)
	hidden, low := g.adapted(g.adaptersOf(i).down, ops.Input{X: g.act.hidden})
	g.Linear(ops.Linear{Label: "ffn_down", W: w.down, In: hidden, Out: g.act.block, LowRank: low})
}

// gate is act.hidden = gelu(ffn_gate·h) ⊙ (ffn_up·h).
func (g *graph) gate(i int, w *layerWeights) {
	in, low := g.adapted(g.adaptersOf(i).gateUp, g.input(w.ffnNorm))
	if w.gateUp != nil {
		g.Linear(ops.Linear{Label: "ffn_gate_up", W: w.gateUp, In: in, Out: g.act.hidden, Act: ops.GELU, Gated: true,
			LowRank: low})
	} else {
		g.Linear(ops.Linear{Label: "ffn_gate", W: w.gate, In: in, Out: g.act.gate, Act: ops.GELU,
			LowRank: low.Of(partGate)})
		g.Linear(ops.Linear{
			Label: "ffn_up", W: w.up, In: in.Again(), Out: g.act.hidden, Mul: g.act.gate, MulStride: w.up.Rows,
			LowRank: low.Of(partUp),
		})
	}
}

// experts is x += rms(m1 + m2; post_ffw_norm): m1 the dense half under its own
// norm, m2 the weighted sum of the chosen experts under another.
func (g *graph) experts(i int, w *layerWeights) {
	c, e := g.config, w.moe
	g.dense(i, w)
	g.Linear(ops.Linear{
		Label: "ffn_gate_inp", W: e.router, Out: g.act.routerLogits,
		In: ops.Input{X: g.x, Norm: &ops.Norm{Weight: e.routerScale, Eps: c.Eps, Scale: 1 / c.EmbedScale()}},
	})
	g.Router(ops.Router{
		Label: "router", Logits: g.act.routerLogits, Experts: c.Experts, K: c.ExpertsUsed,
		Scale: e.downScale, IDs: g.act.expertIDs, Weights: g.act.expertWeights,
	})
	groups := g.GroupExperts(ops.GroupExperts{Label: "expert_groups", IDs: g.act.expertIDs, Experts: c.Experts,
		K: c.ExpertsUsed})
	g.ExpertLinear(ops.ExpertLinear{
		Label: "ffn_gate_up_exps", W: e.gateUp, K: c.ExpertsUsed, IDs: g.act.expertIDs, Groups: groups,
		In: g.inputAgain(e.preNorm), Out: g.act.expertHidden, Gated: true, Act: ops.GELU,
	})
	g.ExpertLinear(ops.ExpertLinear{
		Label: "ffn_down_exps", W: e.down, K: c.ExpertsUsed, IDs: g.act.expertIDs, Groups: groups, PerSlotInput: true,
		In: ops.Input{X: g.act.expertHidden}, Out: g.act.expertSum, Weights: g.act.expertWeights,
	})
	g.SumNorms(ops.SumNorms{
		Label: "ffn_sum", A: g.act.block, B: g.act.expertSum, AWeight: e.postDenseNorm, BWeight: e.postNorm,
		Out: g.act.moeSum, Size: c.EmbeddingLength, Eps: c.Eps,
	})
	g.pend(g.act.moeSum, w.postFFWNorm)
}

// perLayer is x += rms(proj·(gelu(inp_gate·x) ⊙ pli[i]); post_norm).
func (g *graph) perLayer(i int, w *layerWeights) {
	c := g.config
	g.Linear(ops.Linear{
		Label: "inp_gate", W: w.inpGate, In: g.input(nil), Out: g.act.perLayerGate, Act: ops.GELU,
		Mul: g.act.perLayerInputs, MulOffset: i * c.PerLayerDim, MulStride: c.Blocks * c.PerLayerDim,
	})
	g.Linear(ops.Linear{Label: "proj", W: w.proj, In: ops.Input{X: g.act.perLayerGate}, Out: g.act.block})
	g.pend(g.act.block, w.postNorm)
}

// head is logits = softcap(output·rms(x; output_norm)).
func (g *graph) head() {
	g.Linear(ops.Linear{
		Label: "output", W: g.weights.output, In: g.input(g.weights.outputNorm), Out: g.act.logits,
		Softcap: g.config.LogitSoftcap,
	})
	g.act.stream = g.x
}

// input is the stream as the next product reads it: with what is pending added
// and, where norm is given, normalised by it.
func (g *graph) input(norm *wgslkit.Buffer) ops.Input {
	in := ops.Input{X: g.x, Norm: g.norm(norm)}
	if g.pending != nil {
		g.pending.Out = g.other
		in.Add, g.pending = g.pending, nil
		g.x, g.other = g.other, g.x
	}
	return in
}

// inputAgain is the stream for a second product after input was used.
func (g *graph) inputAgain(norm *wgslkit.Buffer) ops.Input {
	return ops.Input{X: g.x, Norm: g.norm(norm)}
}

func (g *graph) norm(weight *wgslkit.Buffer) *ops.Norm {
	if weight == nil {
		return nil
	}
	return &ops.Norm{Weight: weight, Eps: g.config.Eps}
}

// pend leaves rms(block; weight) to be added to x by whoever reads x next.
func (g *graph) pend(block, weight *wgslkit.Buffer) {
	g.pending = &ops.Residual{X: block, Weight: weight, Eps: g.config.Eps, Scale: 1}
}

// settle adds what is pending to x by an op of its own.
func (g *graph) settle() {
	if g.pending == nil {
		return
	}
	g.pending.Out = g.other
	g.Residual("residual", g.x, g.config.EmbeddingLength, *g.pending)
	g.x, g.other, g.pending = g.other, g.x, nil
}

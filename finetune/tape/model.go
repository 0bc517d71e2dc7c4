package tape

import (
	"fmt"
	"slices"

	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gguf"
)

// New spells a model in which the targets have adapters.
func New(model *arch.Model, targets []adapter.Target) (*Tape, error) {
	b := &builder{Tape: &Tape{Config: model.Config, Model: model}, slots: map[adapter.Target]*Slot{},
		keys: map[int]Value{}, values: map[int]Value{}}
	if err := b.slotsFor(targets); err != nil {
		return nil, err
	}
	b.begin(Outside)
	x := b.embed()
	var err error
	for i := range model.Layers {
		b.begin(i)
		if x, err = b.layer(i, x); err != nil {
			return nil, err
		}
	}
	b.begin(Outside)
	b.head(x)
	b.keep()
	return b.Tape, nil
}

// builder spells one model.
type builder struct {
	*Tape
	slots        map[adapter.Target]*Slot
	perLayer     Value
	keys, values map[int]Value // by layer that owns them
}

// slotsFor makes a slot for each target, in order.
func (b *builder) slotsFor(targets []adapter.Target) error {
	targets = slices.Clone(targets)
	slices.SortFunc(targets, adapter.Target.Compare)
	for _, t := range slices.Compact(targets) {
		if t.Layer < 0 || t.Layer >= len(b.Model.Layers) {
			return fmt.Errorf("%w: %s of layer %d; the model has layers 0 to %d", adapter.ErrTarget, t.Linear, t.Layer,
				len(b.Model.Layers)-1)
		}
		w := t.Linear.Tensor(&b.Model.Layers[t.Layer])
		if w == nil {
			return fmt.Errorf("%w: layer %d has no %s of its own", adapter.ErrTarget, t.Layer, t.Linear)
		}
		s := &Slot{Target: t, Index: len(b.Slots), In: w.RowLen(), Out: w.Rows()}
		b.Slots = append(b.Slots, s)
		b.slots[t] = s
	}
	return nil
}

// embed is x = token_embd[t]·√d and, with it, each layer's own input.
func (b *builder) embed() Value {
	x := b.do(&Embed{Out: b.value(b.Config.EmbeddingLength)})
	b.perLayer = None
	if c := b.Config; c.PerLayerDim > 0 {
		b.perLayer = b.do(&PerLayerInputs{X: x, Out: b.value(c.Blocks * c.PerLayerDim)})
	}
	return x
}

// layer is one block: attention, feed-forward, per-layer input, scale.
func (b *builder) layer(i int, x Value) (Value, error) {
	l := &b.Model.Layers[i]
	scale, err := outputScale(l.OutputScale)
	if err != nil {
		return None, fmt.Errorf("layer %d: %w", i, err)
	}
	x = b.attention(i, l, x)
	perLayer := b.Config.PerLayerDim > 0
	last := float32(1) // the scale comes with the layer's last addition
	if !perLayer {
		last = scale
	}
	x = b.feedForward(i, l, x, last)
	if perLayer {
		x = b.perLayerGate(i, l, x, scale)
	}
	return x, nil
}

// attention is x + rms(attn(rms(x; attn_norm)); post_attention_norm).
func (b *builder) attention(i int, l *arch.Layer, x Value) Value {
	c := b.Config
	h := b.norm(x, l.AttnNorm)
	q := b.linear(i, adapter.Q, l.Q, h)
	q = b.rotate(i, b.heads(q, l.QNorm, c.HeadDim(i)), c.Heads)
	if c.HasOwnKV(i) {
		b.keysValues(i, l, h)
	}
	attend := &Attend{
		Q: q, K: b.keys[c.KVDonor(i)], V: b.values[c.KVDonor(i)], Out: b.value(c.QueryDim(i)),
		Heads: c.Heads, KVHeads: c.KVHeads(i), HeadDim: c.HeadDim(i), Scale: c.ScoreScale(),
	}
	if c.IsSliding(i) {
		attend.Window = c.SlidingWindow
	}
	a := b.linear(i, adapter.Output, l.AttnOutput, b.do(attend))
	return b.add(x, b.norm(a, l.PostAttentionNorm), 1)
}

// keysValues is k = rms(attn_k·h; attn_k_norm), rotated, and v = rms(attn_v·h) or, in
// families without that norm, attn_v·h; where K = V, v comes from attn_k·h.
func (b *builder) keysValues(i int, l *arch.Layer, h Value) {
	c := b.Config
	k := b.linear(i, adapter.K, l.K, h)
	v := k
	if !c.KEqualsV(i) {
		v = b.linear(i, adapter.V, l.V, h)
	}
	b.keys[i] = b.rotate(i, b.heads(k, l.KNorm, c.HeadDim(i)), c.KVHeads(i))
	if c.PlainValues {
		b.values[i] = b.do(&Copy{X: v, Out: b.value(b.Values[v].Width)})
		return
	}
	b.values[i] = b.heads(v, nil, c.HeadDim(i))
}

// feedForward is (x + rms(m; post_ffw_norm))·scale, m the dense half and, in
// layers that have them, the experts.
func (b *builder) feedForward(i int, l *arch.Layer, x Value, scale float32) Value {
	m := b.dense(i, l, b.norm(x, l.FFNNorm))
	if l.MoE != nil {
		m = b.add(b.norm(m, l.MoE.PostDenseNorm), b.mixture(l.MoE, x), 1)
	}
	return b.add(x, b.norm(m, l.PostFFWNorm), scale)
}

// dense is ffn_down·(gelu(ffn_gate·h) ⊙ (ffn_up·h)).
func (b *builder) dense(i int, l *arch.Layer, h Value) Value {
	gate := b.linear(i, adapter.Gate, l.Gate, h)
	up := b.linear(i, adapter.Up, l.Up, h)
	hidden := b.do(&Gate{Gate: gate, Up: up, Out: b.value(b.Config.FeedForward(i))})
	return b.linear(i, adapter.Down, l.Down, hidden)
}

// mixture is rms(Σ weight·expert(rms(x; pre_ffw_norm_2)); post_ffw_norm_2).
func (b *builder) mixture(e *arch.Experts, x Value) Value {
	h := b.norm(x, e.PreNorm)
	sum := b.do(&Mixture{X: x, H: h, Out: b.value(b.Config.EmbeddingLength), Experts: e})
	return b.norm(sum, e.PostNorm)
}

// perLayerGate is (x + rms(proj·(gelu(inp_gate·x) ⊙ pli[i]); post_norm))·scale.
func (b *builder) perLayerGate(i int, l *arch.Layer, x Value, scale float32) Value {
	p := b.Config.PerLayerDim
	gate := b.frozen(l.InpGate, x)
	gated := b.do(&Gate{Gate: gate, Up: b.perLayer, UpOffset: i * p, Out: b.value(p)})
	return b.add(x, b.norm(b.frozen(l.Proj, gated), l.PostNorm), scale)
}

// head is the loss of softcap(output·rms(x; output_norm)).
func (b *builder) head(x Value) { b.do(&Loss{X: b.norm(x, b.Model.OutputNorm)}) }

// linear is a product that may have an adapter, frozen one that never has.
func (b *builder) linear(layer int, which adapter.Linear, w *gguf.Tensor, x Value) Value {
	return b.do(&Linear{X: x, W: w, Out: b.value(w.Rows()), Slot: b.slots[adapter.Target{Layer: layer, Linear: which}]})
}

func (b *builder) frozen(w *gguf.Tensor, x Value) Value {
	return b.do(&Linear{X: x, W: w, Out: b.value(w.Rows())})
}

// norm is rms over the whole stream, heads over each head.
func (b *builder) norm(x Value, weight *gguf.Tensor) Value {
	return b.heads(x, weight, b.Values[x].Width)
}

func (b *builder) heads(x Value, weight *gguf.Tensor, size int) Value {
	return b.do(&Norm{X: x, Weight: weight, Size: size, Out: b.value(b.Values[x].Width)})
}

func (b *builder) rotate(layer int, x Value, heads int) Value {
	return b.do(&Rotate{X: x, Out: b.value(b.Values[x].Width), Heads: heads, HeadDim: b.Config.HeadDim(layer),
		Layer: layer})
}

func (b *builder) add(x, y Value, scale float32) Value {
	return b.do(&Add{A: x, B: y, Scale: scale, Out: b.value(b.Values[x].Width)})
}

// outputScale reads layer_output_scale; a layer without has 1.
func outputScale(t *gguf.Tensor) (float32, error) {
	if t == nil {
		return 1, nil
	}
	values := make([]float32, t.Elements())
	if err := t.ReadRows(values, 0, t.Rows()); err != nil {
		return 0, err
	}
	return values[0], nil
}

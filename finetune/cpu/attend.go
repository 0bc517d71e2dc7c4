package cpu

import (
	"github.com/gemwire/gemwire/finetune/tape"
	base "github.com/gemwire/gemwire/gemma4/cpu"
)

// head is one query head of an attention, and the key/value head it reads.
type head struct {
	*pass
	op    *tape.Attend
	query int
}

func (h head) of(values []float32, t, heads, i int) []float32 {
	d := h.op.HeadDim
	return values[(t*heads+i)*d : (t*heads+i+1)*d]
}

func (h head) queryOf(values []float32, t int) []float32 {
	return h.of(values, t, h.op.Heads, h.query)
}

func (h head) keyOf(values []float32, t int) []float32 {
	return h.of(values, t, h.op.KVHeads, h.query/(h.op.Heads/h.op.KVHeads))
}

// keysFrom begins with the key of position t, stride before the next one's.
func (h head) keysFrom(values []float32, t int) []float32 {
	return values[(t*h.op.KVHeads+h.query/(h.op.Heads/h.op.KVHeads))*h.op.HeadDim:]
}

func (h head) stride() int { return h.op.KVHeads * h.op.HeadDim }

// weights is softmax(scale·q·k) over what position t sees, and where that begins.
func (h head) weights(t int) (weights []float32, first int) {
	first, end := h.batch.Visible(t, h.op.Window)
	weights = make([]float32, end-first)
	base.Scores(weights, h.queryOf(h.values[h.op.Q], t), h.keysFrom(h.values[h.op.K], first), h.stride())
	if h.op.Scale != 1 {
		base.Scale(weights, h.op.Scale)
	}
	base.Scale(weights, float32(1/base.Softmax(weights)))
	return weights, first
}

func (f *forward) Attend(op *tape.Attend) error {
	p := (*pass)(f)
	out := p.make(op.Out)
	return p.each(1, func(t int) error {
		for i := range op.Heads {
			h := head{p, op, i}
			weights, first := h.weights(t)
			base.WeightedSum(h.queryOf(out, t), weights, h.keysFrom(p.values[op.V], first), h.stride())
		}
		return nil
	})
}

// Attend adds, with p the weights and dp = do·v: dv = p·do,
// ds = scale·p·(dp − Σ p·dp), dq = ds·k, dk = ds·q. The cores share the work by
// key/value heads, each of which is written by its own queries alone.
func (b *back) Attend(op *tape.Attend) error {
	p := (*pass)(b)
	dq, dk, dv := p.delta(op.Q), p.delta(op.K), p.delta(op.V)
	group := op.Heads / op.KVHeads
	return p.cores.Each(op.KVHeads, 1, func(from, to int) error {
		for i := from * group; i < to*group; i++ {
			h := head{p, op, i}
			for t := range p.n {
				h.back(t, dq, dk, dv)
			}
		}
		return p.ctx.Err()
	})
}

func (h head) back(t int, dq, dk, dv []float32) {
	weights, first := h.weights(t)
	do := h.queryOf(h.deltas[h.op.Out], t)
	dp := make([]float32, len(weights))
	base.Scores(dp, do, h.keysFrom(h.values[h.op.V], first), h.stride())
	var mean float64
	for j, w := range weights {
		mean += float64(w) * float64(dp[j])
		if dv != nil {
			base.Axpy(w, do, h.keyOf(dv, first+j))
		}
	}
	ds := dp
	for j, w := range weights {
		ds[j] = float32(float64(h.op.Scale) * float64(w) * (float64(dp[j]) - mean))
		if dk != nil {
			base.Axpy(ds[j], h.queryOf(h.values[h.op.Q], t), h.keyOf(dk, first+j))
		}
	}
	if dq != nil {
		base.WeightedSum(h.queryOf(dq, t), ds, h.keysFrom(h.values[h.op.K], first), h.stride())
	}
}

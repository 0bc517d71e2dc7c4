package cpu

import (
	"errors"

	"github.com/gemwire/gemwire/gemma4/cpu"
	"github.com/gemwire/gemwire/gemma4/cpu/kernel"
	"github.com/gemwire/gemwire/multimodal/arch"
)

// attention is x = x + rms(attn_out·attn(rms(x; ln1)); ln2): each position sees
// itself and the 11 before it.
//
// The release computes it in chunks of 12 queries and shifts the scores of
// distances as Transformer-XL does; this is the same without either.
func (a *Audio) attention(b *conformerBlock, x []float32) error {
	n, eps := len(x)/a.config.Width, a.config.Eps
	h := make([]float32, len(x))
	kernel.Best.RMSNorm(h, x, b.attnNorm, eps)
	q, k, v := make([]float32, len(x)), make([]float32, len(x)), make([]float32, len(x))
	if err := errors.Join(b.q.apply(a.cores, n, h, q), b.k.apply(a.cores, n, h, k),
		b.v.apply(a.cores, n, h, v)); err != nil {
		return err
	}
	distances := make([]float32, len(a.sinusoids))
	if err := a.cores.Mul(arch.AudioWindow, b.linearPos, a.sinusoids, distances); err != nil {
		return err
	}
	a.scaleQueries(q, b.perDimScale)
	cpu.Scale(k, a.config.KeyScale())
	for i := range n {
		for head := 0; head < a.config.Width; head += a.config.HeadDim() {
			a.attend(h, q, k, v, distances, i, head)
		}
	}
	if err := b.attnOutput.apply(a.cores, n, h, q); err != nil {
		return err
	}
	kernel.Best.RMSNorm(q, q, b.attnPostNorm, eps)
	cpu.Add(x, q)
	return nil
}

// scaleQueries multiplies queries, [positions, heads, D], by per_dim_scale and
// D^−½ / ln 2.
func (a *Audio) scaleQueries(q, perDimScale []float32) {
	factor := a.config.QueryScale()
	for i := range q {
		q[i] *= factor * perDimScale[i%len(perDimScale)]
	}
}

// attend computes one head of one position's output:
// Σ softmax(50·tanh((q·kⱼ + q·P[t−j]) / 50))·vⱼ over the positions j that it sees,
// with P[d] what linear_pos makes of the sinusoids of distance d.
func (a *Audio) attend(y, q, k, v, distances []float32, position, head int) {
	width, headDim := a.config.Width, a.config.HeadDim()
	slice := func(x []float32, i int) []float32 { return x[i*width+head : i*width+head+headDim] }
	first := max(0, position-arch.AudioWindow+1)
	scores := make([]float32, position-first+1)
	query := slice(q, position)
	for i := range scores {
		j := first + i
		score := kernel.Best.Dot(query, slice(k, j)) + kernel.Best.Dot(query, slice(distances, position-j))
		scores[i] = kernel.Softcap(score, arch.AudioSoftcap)
	}
	sum := kernel.Best.Softmax(scores)
	out := slice(y, position)
	clear(out)
	for i, p := range scores {
		kernel.Best.Axpy(p, slice(v, first+i), out)
	}
	cpu.Scale(out, float32(1/sum))
}

package embedding

import (
	"context"
	"fmt"
	"math"

	"github.com/gemwire/gemwire/gemma4/cpu"
)

// pass is what is computed of several inputs together. Their tokens lie one input
// behind the other.
type pass struct {
	*Model
	inputs []Input
	starts []int // the first token of each input, and their number at the end
	tokens int

	x    []float32 // [tokens, d], the residual stream
	h    []float32 // [tokens, d], normed or on its way back to x
	pli  []float32 // [tokens, L·P], the per-layer inputs
	turn map[bool]cpu.Rotation
}

// pass runs the inputs through the model and returns the mean of what their tokens
// become, [dims] each.
func (m *Model) pass(ctx context.Context, inputs []Input) ([][]float32, error) {
	p := &pass{Model: m, inputs: inputs, starts: make([]int, len(inputs)+1)}
	longest := 0
	for i, in := range inputs {
		p.starts[i+1] = p.starts[i] + len(in.Tokens)
		longest = max(longest, len(in.Tokens))
	}
	p.tokens = p.starts[len(inputs)]
	p.rotations(longest)
	if err := p.embed(); err != nil {
		return nil, fmt.Errorf("reading embeddings: %w", err)
	}
	if err := p.perLayerInputs(); err != nil {
		return nil, err
	}
	for i := range m.layers {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := p.layer(ctx, i); err != nil {
			return nil, fmt.Errorf("layer %d: %w", i, err)
		}
	}
	return p.pool()
}

// rotations prepares the angles of both kinds of layers.
func (p *pass) rotations(positions int) {
	p.turn = map[bool]cpu.Rotation{}
	for i := range p.layers {
		sliding := p.config.IsSliding(i)
		if _, made := p.turn[sliding]; !made {
			p.turn[sliding] = cpu.NewRotation(p.config.HeadDim(i), p.config.RopeTheta(i), nil, positions)
		}
	}
}

// embed fills x with token_embd's rows times √d, and with soft tokens as they are.
func (p *pass) embed() error {
	d := p.config.EmbeddingLength
	p.x, p.h = make([]float32, p.tokens*d), make([]float32, p.tokens*d)
	for i, in := range p.inputs {
		x := p.x[p.starts[i]*d : p.starts[i+1]*d]
		for j, id := range in.Tokens {
			if err := p.tokenEmbd.Read(x[j*d:(j+1)*d], int(id)); err != nil {
				return err
			}
		}
		cpu.Scale(x, p.config.EmbedScale())
		for _, s := range in.Soft {
			copy(x[s.First*d:], s.Vectors)
		}
	}
	return nil
}

// perLayerInputs is pli = rms(per_layer_model_proj·x·d^−½; per_layer_proj_norm).
func (p *pass) perLayerInputs() error {
	c := p.config
	if c.PerLayerDim == 0 {
		return nil
	}
	p.pli = make([]float32, p.tokens*c.Blocks*c.PerLayerDim)
	if err := p.cores.Mul(p.tokens, p.perLayerModelProj, p.x, p.pli); err != nil {
		return err
	}
	cpu.Scale(p.pli, float32(1/math.Sqrt(float64(c.EmbeddingLength))))
	cpu.RMSNorm(p.pli, p.pli, p.perLayerProjNorm, c.Eps)
	return nil
}

func (p *pass) layer(ctx context.Context, i int) error {
	l := &p.layers[i]
	if err := p.attention(ctx, i); err != nil {
		return err
	}
	if err := p.feedForward(l); err != nil {
		return err
	}
	if err := p.perLayer(l, i); err != nil {
		return err
	}
	cpu.Scale(p.x, l.outputScale)
	return nil
}

// feedForward is x = x + rms(down·(gelu(gate·h) ⊙ (up·h)); post_ffw_norm) with
// h = rms(x; ffn_norm).
func (p *pass) feedForward(l *layer) error {
	cpu.RMSNorm(p.h, p.x, l.ffnNorm, p.config.Eps)
	gate, up := make([]float32, p.tokens*l.gate.Rows()), make([]float32, p.tokens*l.up.Rows())
	if err := p.cores.Mul(p.tokens, l.gate, p.h, gate); err != nil {
		return err
	}
	if err := p.cores.Mul(p.tokens, l.up, p.h, up); err != nil {
		return err
	}
	cpu.GatedGelu(gate, up)
	if err := p.cores.Mul(p.tokens, l.down, gate, p.h); err != nil {
		return err
	}
	cpu.RMSNorm(p.h, p.h, l.postFFWNorm, p.config.Eps)
	cpu.Add(p.x, p.h)
	return nil
}

// perLayer is x = x + rms(proj·(gelu(inp_gate·x) ⊙ pli[i]); post_norm).
func (p *pass) perLayer(l *layer, i int) error {
	n := p.config.PerLayerDim
	if n == 0 {
		return nil
	}
	gate := make([]float32, p.tokens*n)
	if err := p.cores.Mul(p.tokens, l.inpGate, p.x, gate); err != nil {
		return err
	}
	width := len(p.layers) * n
	for t := range p.tokens {
		cpu.GatedGelu(gate[t*n:(t+1)*n], p.pli[t*width+i*n:][:n])
	}
	if err := p.cores.Mul(p.tokens, l.proj, gate, p.h); err != nil {
		return err
	}
	cpu.RMSNorm(p.h, p.h, l.postNorm, p.config.Eps)
	cpu.Add(p.x, p.h)
	return nil
}

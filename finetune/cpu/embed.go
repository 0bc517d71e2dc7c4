package cpu

import (
	"math"

	"github.com/gemwire/gemwire/finetune/tape"
	base "github.com/gemwire/gemwire/gemma4/cpu"
	"github.com/gemwire/gemwire/gguf"
)

// padToken is the row of the per-layer embeddings that soft tokens use.
const padToken = 0

func (f *forward) Embed(op *tape.Embed) error {
	p := (*pass)(f)
	out := p.make(op.Out)
	d := p.tape.Config.EmbeddingLength
	table := p.matrix(p.tape.Model.TokenEmbd)
	for t, token := range p.batch.Tokens {
		row := out[t*d : (t+1)*d]
		if token.Soft != nil {
			copy(row, token.Soft)
			continue
		}
		if err := table.Read(row, int(token.ID)); err != nil {
			return err
		}
		base.Scale(row, p.tape.Config.EmbedScale())
	}
	return nil
}

func (f *forward) PerLayerInputs(op *tape.PerLayerInputs) error {
	p := (*pass)(f)
	c, m := p.tape.Config, p.tape.Model
	out := p.make(op.Out)
	if err := p.cores.Mul(p.n, p.matrix(m.PerLayerModelProj), p.values[op.X], out); err != nil {
		return err
	}
	base.Scale(out, 1/c.EmbedScale())
	weight, err := p.vector(m.PerLayerProjNorm)
	if err != nil {
		return err
	}
	base.RMSNorm(out, out, weight, c.Eps)
	return p.addTokenRows(out, m.PerLayerTokenEmbd)
}

// addTokenRows is c = (c + e·√P) / √2.
func (p *pass) addTokenRows(c []float32, table *gguf.Tensor) error {
	rows := p.matrix(table)
	e := make([]float32, rows.Cols())
	for t, token := range p.batch.Tokens {
		id := int(token.ID)
		if token.Soft != nil {
			id = padToken
		}
		if err := rows.Read(e, id); err != nil {
			return err
		}
		row := c[t*len(e) : (t+1)*len(e)]
		for j := range row {
			row[j] = (row[j] + e[j]*p.tape.Config.PerLayerScale()) * (1 / math.Sqrt2)
		}
	}
	return nil
}

// Embeddings are frozen: no gradient reaches them.
func (*back) Embed(*tape.Embed) error                   { return nil }
func (*back) PerLayerInputs(*tape.PerLayerInputs) error { return nil }

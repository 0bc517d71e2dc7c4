package cpu

import (
	"math"

	"github.com/gemwire/gemwire/finetune/tape"
	base "github.com/gemwire/gemwire/gemma4/cpu"
)

// positionsAtATime bounds how many rows of logits are there at once.
const positionsAtATime = 16

// Loss computes the loss of the positions that have a target and, where
// gradients are wanted, their share of it at once, while the logits are there.
func (f *ahead) Loss(op *tape.Loss) error {
	p := (*pass)(f)
	if p.logits != nil {
		return p.allLogits(op)
	}
	asked := p.batch.Asked
	for len(asked) > 0 {
		n := min(len(asked), positionsAtATime)
		if err := p.lossOf(op, asked[:n]); err != nil {
			return err
		}
		asked = asked[n:]
	}
	return nil
}

// Loss has nothing left to do on the way back.
func (*back) Loss(*tape.Loss) error { return nil }

func (p *pass) allLogits(op *tape.Loss) error {
	if err := p.cores.Mul(p.n, base.NewMatrix(p.tape.Model.Output, 0), p.values[op.X], p.logits); err != nil {
		return err
	}
	softcap(p.logits, p.tape.Config.LogitSoftcap)
	return nil
}

func (p *pass) lossOf(op *tape.Loss, positions []int) error {
	d, vocab := p.tape.Config.EmbeddingLength, p.tape.Config.Vocab
	x := make([]float32, 0, len(positions)*d)
	for _, t := range positions {
		x = append(x, p.row(op.X, t)...)
	}
	logits := make([]float32, len(positions)*vocab)
	if err := p.cores.Mul(len(positions), base.NewMatrix(p.tape.Model.Output, 0), x, logits); err != nil {
		return err
	}
	softcap(logits, p.tape.Config.LogitSoftcap)
	for i, t := range positions {
		row := logits[i*vocab : (i+1)*vocab]
		target := p.batch.Targets[t]
		at := float64(row[target])
		if p.grads == nil {
			p.loss += logSumExp(row) - at
			continue
		}
		p.loss += lossBack(row, int(target), p.tape.Config.LogitSoftcap, p.weight)
	}
	if dx := p.delta(op.X); p.grads != nil && dx != nil {
		return p.headBack(positions, logits, dx)
	}
	return nil
}

// headBack adds outputᵀ·dlogits to the gradient of the positions.
func (p *pass) headBack(positions []int, dlogits, dx []float32) error {
	d := p.tape.Config.EmbeddingLength
	rows := make([]float32, len(positions)*d)
	if err := p.mulTransposed(p.tape.Model.Output, dlogits, len(positions), rows); err != nil {
		return err
	}
	for i, t := range positions {
		base.Add(dx[t*d:(t+1)*d], rows[i*d:(i+1)*d])
	}
	return nil
}

// softcap is c·tanh(x / c); 0 means none.
func softcap(x []float32, c float32) {
	if c == 0 {
		return
	}
	for i, v := range x {
		x[i] = c * float32(math.Tanh(float64(v/c)))
	}
}

func logSumExp(x []float32) float64 {
	largest := x[0]
	for _, v := range x {
		largest = max(largest, v)
	}
	var sum float64
	for _, v := range x {
		sum += math.Exp(float64(v - largest))
	}
	return float64(largest) + math.Log(sum)
}

// lossBack returns −log softmax(x)[target] and replaces the capped logits x by
// weight times its gradient: (softmax(x) − onehot(target)) ⊙ (1 − (x/c)²).
func lossBack(x []float32, target int, c float32, weight float64) float64 {
	all := logSumExp(x)
	loss := all - float64(x[target])
	for i, v := range x {
		g := math.Exp(float64(v) - all)
		if i == target {
			g--
		}
		if c != 0 {
			g *= 1 - float64(v/c)*float64(v/c)
		}
		x[i] = float32(weight * g)
	}
	return loss
}

package cpu

import (
	"math"

	"github.com/gemwire/gemwire/finetune/tape"
	base "github.com/gemwire/gemwire/gemma4/cpu"
	"github.com/gemwire/gemwire/gemma4/cpu/kernel"
)

// positionsAtATime bounds how many rows of logits are there at once.
const positionsAtATime = 16

// Loss computes the loss of the positions that have a target and, where
// gradients are wanted, their share of it at once, while the logits are there.
func (f *forward) Loss(op *tape.Loss) error {
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
	if err := p.cores.Mul(p.n, p.matrix(p.tape.Model.Output), p.values[op.X], p.logits); err != nil {
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
	if err := p.cores.Mul(len(positions), p.matrix(p.tape.Model.Output), x, logits); err != nil {
		return err
	}
	softcap(logits, p.tape.Config.LogitSoftcap)
	losses := make([]float64, len(positions))
	err := p.cores.Each(len(positions), 1, func(from, to int) error {
		for i := from; i < to; i++ {
			row, shares := logits[i*vocab:(i+1)*vocab], p.batch.Shares(positions[i])
			if p.grads == nil {
				losses[i] = lossOver(row, shares, logSumExp(row))
				continue
			}
			losses[i] = lossBack(row, shares, p.tape.Config.LogitSoftcap, p.weight)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, loss := range losses {
		p.loss += loss
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

// softcap caps x, where the limit is not 0.
func softcap(x []float32, limit float32) {
	if limit == 0 {
		return
	}
	for i, v := range x {
		x[i] = kernel.Softcap(v, limit)
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

// lossOver is Σ part·(log part − log softmax(x)[token]), all being log Σ exp(x): how
// far softmax(x) is from the shares (Kullback and Leibler), and of a single token
// −log softmax(x)[token].
func lossOver(x []float32, shares []tape.Share, all float64) (loss float64) {
	for _, s := range shares {
		loss += float64(s.Part) * (math.Log(float64(s.Part)) + all - float64(x[s.Token]))
	}
	return loss
}

// lossBack returns lossOver and replaces the capped logits x by weight times its
// gradient: (softmax(x) − Σ part·onehot(token)) ⊙ (1 − (x/c)²).
func lossBack(x []float32, shares []tape.Share, c float32, weight float64) float64 {
	all := logSumExp(x)
	loss := lossOver(x, shares, all)
	slope := func(v float32) float64 {
		if c == 0 {
			return weight
		}
		return weight * kernel.SoftcapSlope(v, c)
	}
	goals := make([]float64, len(shares))
	for i, s := range shares {
		goals[i] = float64(s.Part) * slope(x[s.Token])
	}
	for i, v := range x {
		x[i] = float32(math.Exp(float64(v)-all) * slope(v))
	}
	for i, s := range shares {
		x[s.Token] -= float32(goals[i])
	}
	return loss
}

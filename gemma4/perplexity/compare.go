package perplexity

import (
	"context"
	"fmt"
	"math"
)

// A Comparison is how far a model's predictions are from its base's. p is the model's probability of the text's token,
// q the base's.
type Comparison struct {
	Perplexity     Estimate `json:"perplexity"`
	BasePerplexity Estimate `json:"basePerplexity"`
	Correlation    float64  `json:"correlation"` // of the two losses
	LogRatio       Estimate `json:"logRatio"`    // ln(perplexity / base's)
	Ratio          Estimate `json:"ratio"`
	Difference     Estimate `json:"difference"`

	KLDivergence Estimate  `json:"klDivergence"` // mean Σ q·ln(q/p) over the vocabulary
	KLQuantiles  Quantiles `json:"klQuantiles"`

	MeanDelta      Estimate  `json:"meanDelta"` // p − q, from −1 to 1
	RMSDelta       Estimate  `json:"rmsDelta"`
	DeltaQuantiles Quantiles `json:"deltaQuantiles"`
	SameTop        Estimate  `json:"sameTop"` // the share of positions with the same most likely token

	Tokens  int `json:"tokens"`
	Chunks  int `json:"chunks"`
	Context int `json:"context"`
}

// Compare judges the text that a base file was made of. Options' Context and Chunks are the file's; Chunks may be less.
func Compare(ctx context.Context, model Predictor, base *Base, opts Options) (Comparison, error) {
	if opts.Chunks == 0 || opts.Chunks > base.Chunks {
		opts.Chunks = base.Chunks
	}
	c := comparing{base: base}
	for i := range opts.Chunks {
		chunk := base.Tokens[i*base.Context : (i+1)*base.Context]
		err := eachJudged(ctx, model, chunk, opts, func(_ int, target int32, row []float32) error {
			return c.judge(target, row)
		})
		if err != nil {
			return Comparison{}, fmt.Errorf("chunk %d of %d: %w", i+1, opts.Chunks, err)
		}
		if opts.Progress != nil {
			opts.Progress(i+1, opts.Chunks, c.kl.estimate())
		}
	}
	r := c.result()
	r.Chunks, r.Context = opts.Chunks, base.Context
	return r, nil
}

// comparing is one Compare.
type comparing struct {
	base                *Base
	loss, baseLoss, kl  moments
	delta, squaredDelta moments
	products            float64 // Σ loss·baseLoss
	sameTop             int
	divergences, deltas []float32
}

func (c *comparing) judge(target int32, row []float32) error {
	if len(row) != c.base.Vocab {
		return fmt.Errorf("the model has %d pieces, the base %d: %w", len(row), c.base.Vocab, ErrBase)
	}
	base, err := c.base.next()
	if err != nil {
		return err
	}
	logSum := logSumExp(row)
	kl, same := divergence(base, row, logSum)
	loss, baseLoss := logSum-float64(row[target]), -float64(base[target])
	c.loss.add(loss)
	c.baseLoss.add(baseLoss)
	c.products += loss * baseLoss
	c.kl.add(kl)
	delta := math.Exp(-loss) - math.Exp(-baseLoss)
	c.delta.add(delta)
	c.squaredDelta.add(delta * delta)
	c.divergences, c.deltas = append(c.divergences, float32(kl)), append(c.deltas, float32(delta))
	if same {
		c.sameTop++
	}
	return nil
}

// divergence is Σ q·ln(q/p), without what the base's file does not tell apart, and whether both have the same most
// likely piece.
func divergence(base, logits []float32, logSum float64) (sum float64, sameTop bool) {
	top, baseTop := 0, 0
	for i, b := range base {
		if logits[i] > logits[top] {
			top = i
		}
		if b > base[baseTop] {
			baseTop = i
		}
		if b > -depth {
			sum += math.Exp(float64(b)) * (float64(b) - float64(logits[i]) + logSum)
		}
	}
	return sum, top == baseTop
}

func (c *comparing) result() Comparison {
	n := float64(c.loss.n)
	loss, baseLoss := c.loss.estimate(), c.baseLoss.estimate()
	covariance := (c.products/n - loss.Value*baseLoss.Value) / max(1, n-1)
	r := Comparison{
		Perplexity: loss.exp(), BasePerplexity: baseLoss.exp(), Tokens: c.loss.n,
		Correlation:  covariance / (loss.Error * baseLoss.Error),
		KLDivergence: c.kl.estimate(), KLQuantiles: quantiles(c.divergences),
		MeanDelta: c.delta.estimate(), DeltaQuantiles: quantiles(c.deltas),
	}
	if loss.Error == 0 || baseLoss.Error == 0 {
		r.Correlation = 1
	}
	r.LogRatio = Estimate{
		loss.Value - baseLoss.Value,
		math.Sqrt(max(0, loss.Error*loss.Error+baseLoss.Error*baseLoss.Error-2*covariance)),
	}
	r.Ratio = r.LogRatio.exp()
	p, q := r.Perplexity, r.BasePerplexity
	r.Difference = Estimate{
		p.Value - q.Value,
		math.Sqrt(max(0, p.Error*p.Error+q.Error*q.Error-2*p.Value*q.Value*covariance)),
	}
	square := c.squaredDelta.estimate()
	r.RMSDelta.Value = math.Sqrt(square.Value)
	if square.Value > 0 {
		r.RMSDelta.Error = 0.5 / r.RMSDelta.Value * square.Error
	}
	share := float64(c.sameTop) / n
	r.SameTop = Estimate{share, math.Sqrt(share * (1 - share) / max(1, n-1))}
	return r
}

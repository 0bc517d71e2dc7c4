package embedding

import (
	"math"

	"github.com/gemwire/gemwire/gemma4/cpu"
)

// pool is, for each input, the mean over its tokens of output·rms(x; output_norm).
// The product is linear, so the mean comes first, in float64.
func (p *pass) pool() ([][]float32, error) {
	d := p.config.EmbeddingLength
	cpu.RMSNorm(p.h, p.x, p.outputNorm, p.config.Eps)
	means := make([]float32, len(p.inputs)*d)
	sum := make([]float64, d)
	for i := range p.inputs {
		clear(sum)
		for t := p.starts[i]; t < p.starts[i+1]; t++ {
			for j, v := range p.h[t*d : (t+1)*d] {
				sum[j] += float64(v)
			}
		}
		for j, s := range sum {
			means[i*d+j] = float32(s / float64(len(p.inputs[i].Tokens)))
		}
	}
	y := make([]float32, len(p.inputs)*p.dims)
	if err := p.cores.Mul(len(p.inputs), p.output, means, y); err != nil {
		return nil, err
	}
	pooled := make([][]float32, len(p.inputs))
	for i := range pooled {
		pooled[i] = y[i*p.dims : (i+1)*p.dims]
	}
	return pooled, nil
}

// normalised is x / ‖x‖.
func normalised(x []float32) []float32 {
	var square float64
	for _, v := range x {
		square += float64(v) * float64(v)
	}
	y := make([]float32, len(x))
	if square == 0 {
		return y
	}
	length := math.Sqrt(square)
	for i, v := range x {
		y[i] = float32(float64(v) / length)
	}
	return y
}

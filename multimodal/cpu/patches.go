package cpu

import (
	"context"
	"fmt"
	"math"

	"github.com/gemwire/gemwire/gemma4/cpu"
	"github.com/gemwire/gemwire/multimodal/arch"
)

// Patches holds the small weights of what makes soft tokens of images in a model without
// an image tower, and the goroutines that compute with it. It may be used by many
// goroutines at a time and has to be closed.
type Patches struct {
	config  *arch.PatchEmbedder
	options Options
	cores   *cpu.Cores

	patchNorm, embedNorm, positionNorm layerNorm
	patchEmbd                          linear
	positionEmbd                       cpu.Matrix // [2·MaxSide, n]
	projection                         linear
}

// NewPatches reads the norms and biases. The file that its tensors lie in has to stay
// open for as long as the Patches are in use.
func NewPatches(ctx context.Context, a *arch.PatchEmbedder, options Options) (*Patches, error) {
	r := &reader{ctx: ctx}
	p := &Patches{
		config:       a,
		options:      options,
		patchNorm:    r.layerNorm(a.PatchNorm),
		patchEmbd:    r.linear(&a.PatchEmbd),
		embedNorm:    r.layerNorm(a.EmbedNorm),
		positionEmbd: cpu.NewMatrix(a.PositionEmbd, a.Width),
		positionNorm: r.layerNorm(a.PositionNorm),
		projection:   r.linear(&a.Projection),
	}
	p.patchEmbd.w = cpu.NewMatrix(a.PatchEmbd.Weight, a.PatchValues())
	if r.err != nil {
		return nil, fmt.Errorf("loading the embedding of images for the CPU: %w", r.err)
	}
	p.cores = cpu.NewCores(options.Threads)
	return p, nil
}

// Close ends the goroutines. No Encode may be running or follow.
func (p *Patches) Close() { p.cores.Close() }

// Encode makes soft tokens, [columns · rows, d], of an image's squares, [rows · columns,
// side · side · Colours]: row by row, inside a square row by row with the colour last,
// in 0 … 1:
//
//	x = LayerNorm(patch_embd·LayerNorm(pixels) + bias) + X[column] + Y[row]
//	soft = input_projection·rms(LayerNorm(x))
//
// It returns an error wrapping arch.ErrInput for sizes that the model cannot take, ctx's
// own error soon after that ends, or the error of reading weights.
func (p *Patches) Encode(ctx context.Context, squares []float32, columns, rows int) ([]float32, error) {
	if err := p.config.CheckImage(len(squares), columns, rows); err != nil {
		return nil, err
	}
	n, d := p.config.Width, p.config.EmbeddingLength
	soft := make([]float32, columns*rows*d)
	for row := range rows {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		x := make([]float32, columns*n)
		if err := p.embed(squares[row*columns*p.config.PatchValues():][:columns*p.config.PatchValues()], x, row); err != nil {
			return nil, fmt.Errorf("embedding an image: %w", err)
		}
		if err := project(p.cores, &p.projection, x, soft[row*columns*d:(row+1)*columns*d], p.config.Eps); err != nil {
			return nil, err
		}
		p.options.tell(row+1, rows, x)
	}
	return soft, nil
}

// embed computes a row of squares up to the projection.
func (p *Patches) embed(squares, x []float32, row int) error {
	n := p.config.Width
	columns := len(x) / n
	planes := p.config.Planes(squares)
	p.patchNorm.apply(planes)
	if err := p.patchEmbd.apply(p.cores, columns, planes, x); err != nil {
		return err
	}
	p.embedNorm.apply(x)
	ofRow, ofColumn := make([]float32, n), make([]float32, n)
	if err := p.positionEmbd.Read(ofRow, p.config.MaxSide+row); err != nil {
		return err
	}
	for column := range columns {
		if err := p.positionEmbd.Read(ofColumn, column); err != nil {
			return err
		}
		cpu.Add(ofColumn, ofRow)
		cpu.Add(x[column*n:], ofColumn)
	}
	p.positionNorm.apply(x)
	return nil
}

// layerNorm is x = (x − mean) / √(variance + LayerNormEps) ⊙ weight + bias.
type layerNorm struct{ weight, bias []float32 }

func (r *reader) layerNorm(a arch.LayerNorm) layerNorm {
	return layerNorm{r.vector(a.Weight), r.vector(a.Bias)}
}

// apply normalises vectors of len(weight) that lie one behind the other.
func (l layerNorm) apply(x []float32) {
	n := len(l.weight)
	for i := 0; i+n <= len(x); i += n {
		v := x[i : i+n]
		var sum, squares float64
		for _, a := range v {
			sum += float64(a)
		}
		mean := sum / float64(n)
		for _, a := range v {
			squares += (float64(a) - mean) * (float64(a) - mean)
		}
		scale := 1 / math.Sqrt(squares/float64(n)+arch.LayerNormEps)
		for j, a := range v {
			v[j] = float32((float64(a)-mean)*scale)*l.weight[j] + l.bias[j]
		}
	}
}

package gpu

import (
	"fmt"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// visionWeights are the image tower's tensors as its graph reads them.
type visionWeights struct {
	patchEmbd *ops.Matrix
	// patchBias is −Σ of each row of patchEmbd: with pixels v in 0 … 1,
	// W·(2v − 1) = 2·(W·v) + patchBias.
	patchBias         []float32
	rope              *ops.Rope
	layers            []visionLayer
	stdBias, stdScale *wgslkit.Buffer // nil for none
	projection        product
}

type visionLayer struct {
	attnNorm     *wgslkit.Buffer
	qkv          []product
	qNorm, kNorm *wgslkit.Buffer
	attnOutput   product
	attnPostNorm *wgslkit.Buffer

	ffnNorm     *wgslkit.Buffer
	gateUp      gated
	down        product
	ffnPostNorm *wgslkit.Buffer
	outputScale float32
}

func (l *loader) vision(a *arch.Vision) *visionWeights {
	w := &visionWeights{
		rope:    l.rope(arch.VisionTheta, a.HeadDim()/2),
		stdBias: l.vector(a.StdBias), stdScale: l.vector(a.StdScale),
		projection: l.linear(&a.Projection),
	}
	w.patchEmbd, w.patchBias = l.patchEmbedding(a)
	for i := range a.Layers {
		w.layers = append(w.layers, l.visionLayer(&a.Layers[i]))
	}
	return w
}

func (l *loader) visionLayer(a *arch.VisionLayer) visionLayer {
	v := visionLayer{
		attnNorm: l.vector(a.AttnNorm), qkv: l.stacked(&a.Q, &a.K, &a.V), qNorm: l.vector(a.QNorm),
		kNorm:      l.vector(a.KNorm),
		attnOutput: l.linear(&a.AttnOutput), attnPostNorm: l.vector(a.AttnPostNorm),
		ffnNorm: l.vector(a.FFNNorm), gateUp: l.gated(&a.Gate, &a.Up), down: l.linear(&a.Down),
		ffnPostNorm: l.vector(a.FFNPostNorm),
		outputScale: 1,
	}
	if scale := l.floats(a.OutputScale); scale != nil {
		v.outputScale = scale[0]
	}
	return v
}

// patchEmbedding uploads the convolution that embeds patches as a matrix over a
// patch's values in the order of pixels, colours last; the file has them colour by
// colour. Each row's sum comes with it, negative.
func (l *loader) patchEmbedding(a *arch.Vision) (*ops.Matrix, []float32) {
	if l.err != nil {
		return nil, nil
	}
	t := a.PatchEmbd
	raw, bytes, err := l.plain(t)
	if err != nil {
		l.keep(fmt.Errorf("loading %s: %w", t.Name, err))
		return nil, nil
	}
	size := a.PatchValues()
	pixels := size / arch.Colours
	ordered := make([]byte, len(raw))
	for row := range a.Width {
		for i := range size {
			from := row*size + i%arch.Colours*pixels + i/arch.Colours
			to := row*size + i
			copy(ordered[to*bytes:(to+1)*bytes], raw[from*bytes:])
		}
	}
	m := l.matrix(ops.Stacked, ops.Source{Name: t.Name, Type: t.Type, Rows: a.Width, Cols: size, Data: memory(ordered)})
	return m, l.negativeSums(t, a.Width, size)
}

// plain reads a tensor whose values stand by themselves: rows of 16 or so hold no
// blocks.
func (l *loader) plain(t *gguf.Tensor) (raw []byte, bytesEach int, err error) {
	if t.Type.BlockLen() != 1 {
		return nil, 0, fmt.Errorf("%w: it is stored as %v", quant.ErrUnsupported, t.Type)
	}
	raw = make([]byte, t.Size)
	_, err = t.ReadAtContext(l.ctx, raw, 0)
	return raw, t.Type.BlockBytes(), err
}

func (l *loader) negativeSums(t *gguf.Tensor, rows, size int) []float32 {
	values := l.floats(t)
	if values == nil || l.err != nil {
		return nil
	}
	sums := make([]float32, rows)
	for r := range sums {
		var sum float64
		for _, v := range values[r*size : (r+1)*size] {
			sum -= float64(v)
		}
		sums[r] = float32(sum)
	}
	return sums
}

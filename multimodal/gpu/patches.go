package gpu

import (
	"context"
	"fmt"
	"sync"

	"github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// Patches makes soft tokens of images on the GPU, in a model without an image tower. It may
// be used by many goroutines at a time, which take turns, and has to be closed.
type Patches struct {
	config  *arch.PatchEmbedder
	kit     *ops.Kit
	options Options
	loader  *loader
	weights *patchWeights

	mu     sync.Mutex
	act    *patchBuffers // nil until the first image
	body   *ops.Recording
	placed [2]int // the columns and rows whose positions are uploaded
}

type patchWeights struct {
	patchNorm, embedNorm, positionNorm layerNorm
	patchEmbd, projection              product
}

type layerNorm struct{ weight, bias *wgslkit.Buffer }

func (l *loader) layerNorm(a arch.LayerNorm) layerNorm {
	return layerNorm{l.vector(a.Weight), l.vector(a.Bias)}
}

// patches uploads the norms and products. The first of these may be stored as the
// convolution that it is: its rows are the same bytes.
func (l *loader) patches(a *arch.PatchEmbedder) *patchWeights {
	squares := l.clipped(&a.PatchEmbd)
	source := sourceOf(squares.Weight)
	source.Rows, source.Cols = a.Width, a.PatchValues()
	return &patchWeights{
		patchNorm: l.layerNorm(a.PatchNorm), embedNorm: l.layerNorm(a.EmbedNorm),
		positionNorm: l.layerNorm(a.PositionNorm),
		patchEmbd:    l.productOf(ops.Stacked, []ops.Source{source}, squares), projection: l.linear(&a.Projection),
	}
}

// NewPatches uploads the weights. The file that they lie in has to stay open for as long as
// the Patches are in use. An error leaves nothing behind.
func NewPatches(ctx context.Context, kit *ops.Kit, a *arch.PatchEmbedder, options Options) (*Patches, error) {
	p := &Patches{config: a, kit: kit, options: options,
		loader: &loader{ctx: ctx, kit: kit, uploads: kit.HoldUploads()}}
	p.weights = p.loader.patches(a)
	if err := p.loader.finish(); err != nil {
		p.loader.release()
		return nil, named("loading the embedding of images on the GPU", err)
	}
	return p, nil
}

// Close frees all that is on the GPU. No Encode may be running or follow.
func (p *Patches) Close() {
	p.drop()
	p.loader.release()
}

// drop frees what is sized for images.
func (p *Patches) drop() {
	releaseAll(p.body)
	if p.act != nil {
		p.act.release()
	}
	p.act, p.body, p.placed = nil, nil, [2]int{}
}

// Encode makes soft tokens, [columns · rows, d], of an image's squares, [rows · columns,
// side · side · Colours]: row by row, inside a square row by row with the colour last,
// in 0 … 1.
//
// It returns an error wrapping arch.ErrInput for sizes that the model cannot take,
// wgslkit's ErrLimit or ErrOutOfMemory where the device has no room for the image, or
// ctx's own error soon after that ends.
func (p *Patches) Encode(ctx context.Context, squares []float32, columns, rows int) ([]float32, error) {
	if err := p.config.CheckImage(len(squares), columns, rows); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.prepare(ctx, columns, rows); err != nil {
		return nil, named(fmt.Sprintf("preparing for an image of %d × %d soft tokens", columns, rows), err)
	}
	if err := writeFloats(p.act.pixels, p.config.Planes(squares)); err != nil {
		return nil, err
	}
	n := columns * rows
	soft, err := whole(ctx, p.body, n, p.act.soft, n*p.config.EmbeddingLength)
	p.options.tell(1, 1)
	return soft, named("encoding an image", err)
}

// prepare makes room for an image and uploads its positions.
func (p *Patches) prepare(ctx context.Context, columns, rows int) error {
	if err := p.fit(columns * rows); err != nil {
		return err
	}
	if err := p.place(ctx, columns, rows); err != nil {
		return err
	}
	return at(p.act.state, columns*rows, columns)
}

// fit makes buffers and the program for so many squares, where those that are there are
// too small.
func (p *Patches) fit(squares int) (err error) {
	if p.act != nil && squares <= p.act.width {
		return nil
	}
	p.drop()
	const step = 64 // so that images of one budget share them
	width := min((squares+step-1)/step*step, arch.MaxImageTokens)
	if p.act, err = newPatchBuffers(p.kit.Device(), p.config, width); err != nil {
		return err
	}
	if p.body, err = recordPatches(p.kit, p.config, p.weights, p.act); err != nil {
		p.drop()
	}
	return err
}

// place uploads the positions of an image's columns and rows. The tables themselves stay
// in the file.
func (p *Patches) place(ctx context.Context, columns, rows int) error {
	if p.placed == [2]int{columns, rows} {
		return nil
	}
	n, table := p.config.Width, p.config.PositionEmbd
	positions := make([]float32, (columns+rows)*n)
	if err := table.ReadRowsContext(ctx, positions[:columns*n], 0, columns); err != nil {
		return err
	}
	if err := table.ReadRowsContext(ctx, positions[columns*n:], p.config.MaxSide, rows); err != nil {
		return err
	}
	if err := writeFloats(p.act.positions, positions); err != nil {
		return err
	}
	p.placed = [2]int{columns, rows}
	return nil
}

// patchBuffers are what lies between the ops of a program of up to width squares.
type patchBuffers struct {
	buffers
	width int

	state          *wgslkit.Buffer
	positions      *wgslkit.Buffer // [columns + rows, n]
	pixels, normed *wgslkit.Buffer // [width, values of a square]
	x, other       *wgslkit.Buffer // [width, n]
	soft           *wgslkit.Buffer // [width, d]
}

func newPatchBuffers(device *wgslkit.Device, a *arch.PatchEmbedder, width int) (*patchBuffers, error) {
	b := &patchBuffers{buffers: buffers{device: device}, width: width}
	b.state = b.buffers.state()
	// Columns and rows together are most where one of them is one.
	b.positions = b.floats("positions", (width+1)*a.Width)
	b.pixels = b.floats("squares", width*a.PatchValues())
	b.normed = b.floats("normalised squares", width*a.PatchValues())
	b.x, b.other = b.floats("x", width*a.Width), b.floats("x'", width*a.Width)
	b.soft = b.floats("soft tokens", width*a.EmbeddingLength)
	if b.err != nil {
		b.release()
		return nil, b.err
	}
	return b, nil
}

// recordPatches spells the embedding in the order of the model's page:
//
//	x = LayerNorm(patch_embd·LayerNorm(pixels) + bias) + X[column] + Y[row]
//	soft = input_projection·rms(LayerNorm(x))
//
// Sums of thousands of raw pixels stay in float32, inputs and all: there is no tower
// behind them that evens out what float16 loses.
func recordPatches(kit *ops.Kit, a *arch.PatchEmbedder, w *patchWeights, act *patchBuffers) (*ops.Recording, error) {
	r := kit.Record("embedding of images", act.width, act.state)
	norm := func(label string, n layerNorm, size int, x, y *wgslkit.Buffer) {
		r.LayerNorm(ops.LayerNorm{Label: label, X: x, Y: y, Weight: n.weight, Bias: n.bias, Size: size,
			Eps: arch.LayerNormEps})
	}
	norm("patch_norm.1", w.patchNorm, a.PatchValues(), act.pixels, act.normed)
	r.Linear(ops.Linear{Label: "patch_embd", W: w.patchEmbd.w, Bounds: w.patchEmbd.bounds,
		In: ops.Input{X: act.normed}, Out: act.x, Float32: true})
	norm("patch_norm.2", w.embedNorm, a.Width, act.x, act.other)
	r.GridEmbed(ops.GridEmbed{Label: "position_embd", X: act.other, Table: act.positions, Size: a.Width})
	norm("patch_norm.3", w.positionNorm, a.Width, act.other, act.x)
	r.Linear(ops.Linear{Label: "input_projection", W: w.projection.w, Bounds: w.projection.bounds,
		In: ops.Input{X: act.x, Norm: &ops.Norm{Eps: a.Eps}}, Out: act.soft, Float32: true})
	return r.Finish()
}

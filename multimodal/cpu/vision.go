package cpu

import (
	"context"
	"fmt"

	"github.com/gemwire/gemwire/gemma4/cpu"
	"github.com/gemwire/gemwire/multimodal/arch"
)

// Vision holds the small weights of an image tower and the goroutines that
// compute with it. It may be used by many goroutines at a time and has to be
// closed.
type Vision struct {
	config  *arch.Vision
	options Options
	cores   *cpu.Cores

	patchEmbd         cpu.Matrix // [n, Colours·patch·patch]
	positionEmbd      cpu.Matrix // [2·MaxSide, n]
	blocks            []visionBlock
	stdBias, stdScale []float32 // nil for none
	projection        linear
}

// NewVision reads the tower's norms and bounds. The file that its tensors lie in
// has to stay open for as long as the Vision is in use.
func NewVision(ctx context.Context, a *arch.Vision, options Options) (*Vision, error) {
	r := &reader{ctx: ctx}
	v := &Vision{
		config:       a,
		options:      options,
		patchEmbd:    cpu.NewMatrix(a.PatchEmbd, a.PatchValues()),
		positionEmbd: cpu.NewMatrix(a.PositionEmbd, a.Width),
		blocks:       make([]visionBlock, len(a.Layers)),
		stdBias:      r.vector(a.StdBias),
		stdScale:     r.vector(a.StdScale),
		projection:   r.linear(&a.Projection),
	}
	for i := range a.Layers {
		v.blocks[i] = r.visionBlock(&a.Layers[i])
	}
	if r.err != nil {
		return nil, fmt.Errorf("loading the image tower for the CPU: %w", r.err)
	}
	v.cores = cpu.NewCores(options.Threads)
	return v, nil
}

// Close ends the tower's goroutines. No Encode may be running or follow.
func (v *Vision) Close() { v.cores.Close() }

// patchesPerBatch is how many patches go through a block together.
const patchesPerBatch = 512

// Encode makes soft tokens, [columns/pool · rows/pool, d], of an image's patches,
// [rows · columns, patch · patch · Colours]: row by row, inside a patch row by
// row with the colour last, in 0 … 1.
//
// It returns an error wrapping arch.ErrInput for sizes that the tower cannot take,
// ctx's own error soon after that ends, or the error of reading weights.
func (v *Vision) Encode(ctx context.Context, patches []float32, columns, rows int) ([]float32, error) {
	if err := v.config.CheckImage(len(patches), columns, rows); err != nil {
		return nil, err
	}
	image := &image{columns: columns, rows: rows}
	if err := v.embed(image, patches); err != nil {
		return nil, fmt.Errorf("embedding patches: %w", err)
	}
	image.rotation = newRotation2D(v.config.HeadDim(), columns, rows)
	v.options.tell(0, len(v.blocks), image.x)
	for i := range v.blocks {
		if err := v.block(ctx, &v.blocks[i], image); err != nil {
			return nil, fmt.Errorf("block %d of the image tower: %w", i, err)
		}
		v.options.tell(i+1, len(v.blocks), image.x)
	}
	pooled := v.pool(image)
	soft := make([]float32, len(pooled)/v.config.Width*v.config.EmbeddingLength)
	return soft, project(v.cores, &v.projection, pooled, soft, v.config.Eps)
}

// image is an image on its way through the tower.
type image struct {
	columns, rows int // patches
	rotation      rotation2D
	x             []float32 // [patches, n], the residual stream
}

func (i *image) patches() int { return i.columns * i.rows }

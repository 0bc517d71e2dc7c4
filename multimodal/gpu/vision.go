package gpu

import (
	"context"
	"fmt"
	"sync"

	"github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// Vision is an image tower on the GPU. It may be used by many goroutines at a
// time, which take turns, and has to be closed.
type Vision struct {
	config  *arch.Vision
	kit     *ops.Kit
	options Options
	loader  *loader
	weights *visionWeights

	mu        sync.Mutex
	act       *visionBuffers // nil until the first image
	body, end *ops.Recording
	marks     []int  // where body's blocks end
	placed    [2]int // the columns and rows whose positions are uploaded
	pace      pace
	wideLimit int64 // bytes of the widest buffer; smaller than a binding in tests alone
}

// NewVision uploads the tower. The file that its tensors lie in has to stay open
// for as long as the Vision is in use. An error leaves nothing behind.
func NewVision(ctx context.Context, kit *ops.Kit, a *arch.Vision, options Options) (*Vision, error) {
	v := &Vision{config: a, kit: kit, options: options, loader: &loader{ctx: ctx, kit: kit, uploads: kit.HoldUploads()}}
	v.wideLimit = kit.Device().Limits().MaxStorageBindingSize
	v.weights = v.loader.vision(a)
	if err := v.loader.finish(); err != nil {
		v.loader.release()
		return nil, named("loading the image tower on the GPU", err)
	}
	return v, nil
}

// Close frees all that the tower has on the GPU. No Encode may be running or follow.
func (v *Vision) Close() {
	v.drop()
	v.loader.release()
}

// drop frees what is sized for images.
func (v *Vision) drop() {
	releaseAll(v.body, v.end)
	if v.act != nil {
		v.act.release()
	}
	v.act, v.body, v.end, v.placed = nil, nil, nil, [2]int{}
}

// Encode makes soft tokens, [columns/pool · rows/pool, d], of an image's patches,
// [rows · columns, patch · patch · Colours]: row by row, inside a patch row by
// row with the colour last, in 0 … 1.
//
// It returns an error wrapping arch.ErrInput for sizes that the tower cannot take,
// wgslkit's ErrLimit or ErrOutOfMemory where the device has no room for the
// image, or ctx's own error soon after that ends.
func (v *Vision) Encode(ctx context.Context, patches []float32, columns, rows int) ([]float32, error) {
	if err := v.config.CheckImage(len(patches), columns, rows); err != nil {
		return nil, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.prepare(ctx, columns, rows); err != nil {
		return nil, named(fmt.Sprintf("preparing for an image of %d × %d patches", columns, rows), err)
	}
	if err := writeFloats(v.act.wide, patches); err != nil {
		return nil, err
	}
	soft := columns / v.config.Pool * (rows / v.config.Pool)
	tokens, err := v.pace.run(ctx, v.kit.Device(), parted{
		program: v.body, width: columns * rows, marks: v.marks, told: v.options.tell,
		read: func() (*wgslkit.Readback, error) {
			if err := v.end.Submit(soft); err != nil {
				return nil, err
			}
			return v.act.soft.StartRead(0, int64(4*soft*v.config.EmbeddingLength))
		},
	})
	return tokens, named("encoding an image", err)
}

// Profile tells what each kernel took for the image that was encoded last, which
// it encodes once more.
func (v *Vision) Profile() ([]wgslkit.KernelTime, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.body == nil {
		return nil, nil
	}
	return v.body.Profile(v.placed[0] * v.placed[1])
}

// prepare makes room for an image, uploads its positions and tells the programs
// its size.
func (v *Vision) prepare(ctx context.Context, columns, rows int) error {
	if err := v.fit(columns * rows); err != nil {
		return err
	}
	if err := v.place(ctx, columns, rows); err != nil {
		return err
	}
	return v.act.tell(columns*rows, columns, v.config.Pool)
}

// fit makes buffers and programs for so many patches, where those that are there
// are too small.
func (v *Vision) fit(patches int) error {
	if v.act != nil && patches <= v.act.width {
		return nil
	}
	v.drop()
	// Some room more, so that images of one budget share it.
	step := 64 * v.config.Pool * v.config.Pool
	width := min((patches+step-1)/step*step, v.config.MaxPatches())
	act, err := newVisionBuffers(v.kit.Device(), v.config, v.weights, width, v.wideLimit)
	if err != nil {
		return err
	}
	v.act = act
	if v.body, v.end, v.marks, err = recordVision(v.kit, v.config, v.weights, act); err != nil {
		v.drop()
	}
	return err
}

// place uploads the positions of an image's columns and rows, of which the
// columns' carry the patch embedding's bias too. The tables themselves stay in
// the file: they are for images of any shape.
func (v *Vision) place(ctx context.Context, columns, rows int) error {
	if v.placed == [2]int{columns, rows} {
		return nil
	}
	n, table := v.config.Width, v.config.PositionEmbd
	positions := make([]float32, (columns+rows)*n)
	if err := table.ReadRowsContext(ctx, positions[:columns*n], 0, columns); err != nil {
		return err
	}
	if err := table.ReadRowsContext(ctx, positions[columns*n:], v.config.MaxSide, rows); err != nil {
		return err
	}
	for i := range positions[:columns*n] {
		positions[i] += v.weights.patchBias[i%n]
	}
	if err := writeFloats(v.act.positions, positions); err != nil {
		return err
	}
	v.placed = [2]int{columns, rows}
	return nil
}

package cpu

import (
	"context"
	"fmt"
	"slices"

	"github.com/gemwire/gemwire/gemma4/cpu"
	"github.com/gemwire/gemwire/multimodal/arch"
)

// Frames makes soft tokens of clips in a model without an audio tower. It may be used by
// many goroutines at a time and has to be closed.
type Frames struct {
	config     *arch.FrameEmbedder
	options    Options
	cores      *cpu.Cores
	projection linear
}

// NewFrames reads what is small. The file that its tensors lie in has to stay open for as
// long as the Frames are in use.
func NewFrames(ctx context.Context, a *arch.FrameEmbedder, options Options) (*Frames, error) {
	r := &reader{ctx: ctx}
	f := &Frames{config: a, options: options, projection: r.linear(&a.Projection)}
	if r.err != nil {
		return nil, fmt.Errorf("loading the embedding of sound for the CPU: %w", r.err)
	}
	f.cores = cpu.NewCores(options.Threads)
	return f, nil
}

// Close ends the goroutines. No Encode may be running or follow.
func (f *Frames) Close() { f.cores.Close() }

// Encode makes soft tokens, input_projection·rms(samples), [valid, d], of frames of
// samples, [frames, samples], of which the first valid ones count.
//
// It returns an error wrapping arch.ErrInput for sizes that the model cannot take, ctx's
// own error where that has ended, or the error of reading weights.
func (f *Frames) Encode(ctx context.Context, samples []float32, frames, valid int) ([]float32, error) {
	if err := f.config.CheckClip(len(samples), frames); err != nil {
		return nil, err
	}
	if valid < 1 || valid > frames {
		return nil, fmt.Errorf("%d valid frames of %d: %w", valid, frames, arch.ErrInput)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	x := slices.Clone(samples[:valid*f.config.Samples])
	soft := make([]float32, valid*f.config.EmbeddingLength)
	err := project(f.cores, &f.projection, x, soft, f.config.Eps)
	f.options.tell(1, 1, x)
	return soft, err
}

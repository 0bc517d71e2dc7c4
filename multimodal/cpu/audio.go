package cpu

import (
	"context"
	"fmt"

	"github.com/gemwire/gemwire/gemma4/cpu"
	"github.com/gemwire/gemwire/multimodal/arch"
)

// Audio holds the small weights of an audio tower and the goroutines that compute
// with it. It may be used by many goroutines at a time and has to be closed.
type Audio struct {
	config  *arch.Audio
	options Options
	cores   *cpu.Cores

	convs              [2]conv
	input              linear
	sinusoids          []float32 // [AudioWindow, n]
	blocks             []conformerBlock
	output, projection linear
}

// NewAudio reads the tower's norms and bounds. The file that its tensors lie in
// has to stay open for as long as the Audio is in use.
func NewAudio(ctx context.Context, a *arch.Audio, options Options) (*Audio, error) {
	r := &reader{ctx: ctx}
	t := &Audio{
		config:     a,
		options:    options,
		convs:      [2]conv{r.conv(&a.Conv[0]), r.conv(&a.Conv[1])},
		input:      r.linear(&a.Input),
		sinusoids:  a.Sinusoids(),
		blocks:     make([]conformerBlock, len(a.Layers)),
		output:     r.linear(&a.Output),
		projection: r.linear(&a.Projection),
	}
	for i := range a.Layers {
		t.blocks[i] = r.conformerBlock(&a.Layers[i])
	}
	if r.err != nil {
		return nil, fmt.Errorf("loading the audio tower for the CPU: %w", r.err)
	}
	t.cores = cpu.NewCores(options.Threads)
	return t, nil
}

// Close ends the tower's goroutines. No Encode may be running or follow.
func (a *Audio) Close() { a.cores.Close() }

// Encode makes soft tokens, [AudioTokens(valid), d], of mel frames, [frames,
// MelBins], of which the first valid ones hold sound and the rest is padding.
//
// It returns an error wrapping arch.ErrInput for sizes that the tower cannot take,
// ctx's own error soon after that ends, or the error of reading weights.
func (a *Audio) Encode(ctx context.Context, mel []float32, frames, valid int) ([]float32, error) {
	if err := a.config.CheckClip(len(mel), frames, valid); err != nil {
		return nil, err
	}
	x, err := a.subsample(ctx, mel[:valid*arch.MelBins])
	if err != nil {
		return nil, fmt.Errorf("subsampling mel frames: %w", err)
	}
	a.options.tell(0, len(a.blocks), x)
	for i := range a.blocks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := a.block(&a.blocks[i], x); err != nil {
			return nil, fmt.Errorf("block %d of the audio tower: %w", i, err)
		}
		a.options.tell(i+1, len(a.blocks), x)
	}
	n := len(x) / a.config.Width
	y := make([]float32, n*a.config.OutputWidth)
	if err := a.output.apply(a.cores, n, x, y); err != nil {
		return nil, err
	}
	soft := make([]float32, n*a.config.EmbeddingLength)
	return soft, project(a.cores, &a.projection, y, soft, a.config.Eps)
}

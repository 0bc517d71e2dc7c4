package gpu

import (
	"context"
	"fmt"
	"sync"

	"github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// Frames makes soft tokens of clips on the GPU, in a model without an audio tower. It may be
// used by many goroutines at a time, which take turns, and has to be closed.
type Frames struct {
	config     *arch.FrameEmbedder
	kit        *ops.Kit
	options    Options
	loader     *loader
	projection product

	mu   sync.Mutex
	act  *frameBuffers // nil until the first clip
	body *ops.Recording
}

// NewFrames uploads the projection. The file that it lies in has to stay open for as long
// as the Frames are in use. An error leaves nothing behind.
func NewFrames(ctx context.Context, kit *ops.Kit, a *arch.FrameEmbedder, options Options) (*Frames, error) {
	f := &Frames{config: a, kit: kit, options: options,
		loader: &loader{ctx: ctx, kit: kit, uploads: kit.HoldUploads()}}
	f.projection = f.loader.linear(&a.Projection)
	if err := f.loader.finish(); err != nil {
		f.loader.release()
		return nil, named("loading the embedding of sound on the GPU", err)
	}
	return f, nil
}

// Close frees all that is on the GPU. No Encode may be running or follow.
func (f *Frames) Close() {
	f.drop()
	f.loader.release()
}

func (f *Frames) drop() {
	releaseAll(f.body)
	if f.act != nil {
		f.act.release()
	}
	f.act, f.body = nil, nil
}

// Encode makes soft tokens, input_projection·rms(samples), [valid, d], of frames of
// samples, [frames, samples], of which the first valid ones count.
//
// It returns an error wrapping arch.ErrInput for sizes that the model cannot take,
// wgslkit's ErrLimit or ErrOutOfMemory where the device has no room for the clip, or
// ctx's own error soon after that ends.
func (f *Frames) Encode(ctx context.Context, samples []float32, frames, valid int) ([]float32, error) {
	if err := f.config.CheckClip(len(samples), frames); err != nil {
		return nil, err
	}
	if valid < 1 || valid > frames {
		return nil, fmt.Errorf("%d valid frames of %d: %w", valid, frames, arch.ErrInput)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.fit(valid); err != nil {
		return nil, named(fmt.Sprintf("preparing for a clip of %d frames", valid), err)
	}
	if err := at(f.act.state, valid, valid); err != nil {
		return nil, err
	}
	if err := writeFloats(f.act.samples, samples[:valid*f.config.Samples]); err != nil {
		return nil, err
	}
	soft, err := whole(ctx, f.body, valid, f.act.soft, valid*f.config.EmbeddingLength)
	f.options.tell(1, 1)
	return soft, named("encoding a clip", err)
}

// fit makes buffers and the program for so many frames, where those that are there are too
// small.
func (f *Frames) fit(frames int) (err error) {
	if f.act != nil && frames <= f.act.width {
		return nil
	}
	f.drop()
	const step = 64 // so that clips of about one length share them
	width := min((frames+step-1)/step*step, arch.MaxClipFrames)
	if f.act, err = newFrameBuffers(f.kit.Device(), f.config, width); err != nil {
		return err
	}
	r := f.kit.Record("embedding of sound", width, f.act.state)
	r.Linear(ops.Linear{Label: "input_projection", W: f.projection.w, Bounds: f.projection.bounds,
		In: ops.Input{X: f.act.samples, Norm: &ops.Norm{Eps: f.config.Eps}}, Out: f.act.soft, Float32: true})
	if f.body, err = r.Finish(); err != nil {
		f.drop()
	}
	return err
}

// frameBuffers are what a program of up to width frames reads and writes.
type frameBuffers struct {
	buffers
	width                int
	state, samples, soft *wgslkit.Buffer // words; [width, samples]; [width, d]
}

func newFrameBuffers(device *wgslkit.Device, a *arch.FrameEmbedder, width int) (*frameBuffers, error) {
	b := &frameBuffers{buffers: buffers{device: device}, width: width}
	b.state = b.buffers.state()
	b.samples, b.soft = b.floats("samples", width*a.Samples), b.floats("soft tokens", width*a.EmbeddingLength)
	if b.err != nil {
		b.release()
		return nil, b.err
	}
	return b, nil
}

package gpu

import (
	"context"
	"fmt"
	"sync"

	"github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// Audio is an audio tower on the GPU. It may be used by many goroutines at a
// time, which take turns, and has to be closed.
type Audio struct {
	config  *arch.Audio
	kit     *ops.Kit
	options Options
	loader  *loader
	weights *audioWeights

	mu       sync.Mutex
	act      *audioBuffers // nil until the first clip
	programs *audioPrograms
	encoded  int // mel frames of the clip encoded last
	pace     pace
}

// NewAudio uploads the tower. The file that its tensors lie in has to stay open
// for as long as the Audio is in use. An error leaves nothing behind.
func NewAudio(ctx context.Context, kit *ops.Kit, a *arch.Audio, options Options) (*Audio, error) {
	t := &Audio{config: a, kit: kit, options: options, loader: &loader{ctx: ctx, kit: kit, uploads: kit.HoldUploads()}}
	t.weights = t.loader.audio(a)
	if err := t.loader.finish(); err != nil {
		t.loader.release()
		return nil, named("loading the audio tower on the GPU", err)
	}
	return t, nil
}

// Close frees all that the tower has on the GPU. No Encode may be running or follow.
func (a *Audio) Close() {
	a.drop()
	a.loader.release()
}

// drop frees what is sized for clips.
func (a *Audio) drop() {
	a.programs.release()
	if a.act != nil {
		a.act.release()
	}
	a.act, a.programs = nil, nil
}

// Encode makes soft tokens, [AudioTokens(valid), d], of mel frames, [frames,
// MelBins], of which the first valid ones hold sound and the rest is padding.
//
// It returns an error wrapping arch.ErrInput for sizes that the tower cannot take,
// wgslkit's ErrLimit or ErrOutOfMemory where the device has no room for the clip,
// or ctx's own error soon after that ends.
func (a *Audio) Encode(ctx context.Context, mel []float32, frames, valid int) ([]float32, error) {
	if err := a.config.CheckClip(len(mel), frames, valid); err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.prepare(valid); err != nil {
		return nil, named(fmt.Sprintf("preparing for a clip of %d mel frames", valid), err)
	}
	tokens, err := a.run(ctx, mel[:valid*arch.MelBins], valid)
	return tokens, named("encoding a clip", err)
}

// Profile tells what each kernel took for the clip that was encoded last, which
// it encodes once more.
func (a *Audio) Profile() ([]wgslkit.KernelTime, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.programs == nil {
		return nil, nil
	}
	var all []wgslkit.KernelTime
	for _, part := range []struct {
		program *ops.Recording
		width   int
	}{{a.programs.first, a.encoded}, {a.programs.second, (a.encoded + 1) / 2},
		{a.programs.body, arch.AudioTokens(a.encoded)}} {
		times, err := part.program.Profile(part.width)
		if err != nil {
			return nil, err
		}
		all = append(all, times...)
	}
	return all, nil
}

// prepare makes buffers and programs for so many mel frames, where those that are
// there are too small, and tells the programs their number.
func (a *Audio) prepare(frames int) (err error) {
	if a.act == nil || frames > a.act.frames {
		a.drop()
		// Some room more, so that clips of about one length share it.
		const step = 256
		most := 4 * arch.MaxAudioTokens
		if a.act, err = newAudioBuffers(a.kit.Device(), a.config, min((frames+step-1)/step*step, most)); err != nil {
			return err
		}
		if a.programs, err = recordAudio(a.kit, a.config, a.weights, a.act); err != nil {
			a.drop()
			return err
		}
	}
	a.encoded = frames
	if err := at(a.act.frameState, frames, frames); err != nil {
		return err
	}
	if err := at(a.act.halfState, (frames+1)/2, frames); err != nil {
		return err
	}
	return at(a.act.state, arch.AudioTokens(frames), frames)
}

func (a *Audio) run(ctx context.Context, mel []float32, frames int) ([]float32, error) {
	if err := writeFloats(a.act.mel, mel); err != nil {
		return nil, err
	}
	if err := a.programs.first.Submit(frames); err != nil {
		return nil, err
	}
	if err := a.programs.second.Submit((frames + 1) / 2); err != nil {
		return nil, err
	}
	tokens := arch.AudioTokens(frames)
	return a.pace.run(ctx, a.kit.Device(), parted{
		program: a.programs.body, width: tokens, marks: a.programs.marks, told: a.options.tell,
		read: func() (*wgslkit.Readback, error) {
			return a.act.soft.StartRead(0, int64(4*tokens*a.config.EmbeddingLength))
		},
	})
}

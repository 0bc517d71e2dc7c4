package gpu

import (
	"context"
	"errors"

	"github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// rehearsedImages are the soft tokens of images that RehearseVision records: the least
// budget, the usual one and the largest.
var rehearsedImages = []int{70, 280, arch.MaxImageTokens}

// rehearsedClips are the mel frames of clips that RehearseAudio records.
var rehearsedClips = []int{200, 3000}

// RehearseVision loads an image tower on a kit whose device rehearses, and records what
// images of several sizes take. Sizes that the device has no room for are left out.
func RehearseVision(ctx context.Context, kit *ops.Kit, a *arch.Vision) error {
	v, err := NewVision(ctx, kit, a, Options{})
	if err != nil {
		return err
	}
	defer v.Close()
	for i, soft := range rehearsedImages {
		if err := v.fit(min(soft*a.Pool*a.Pool, a.MaxPatches())); err != nil && (i == 0 || !noRoom(err)) {
			return err
		}
	}
	return nil
}

// RehearseAudio is RehearseVision for an audio tower.
func RehearseAudio(ctx context.Context, kit *ops.Kit, a *arch.Audio) error {
	t, err := NewAudio(ctx, kit, a, Options{})
	if err != nil {
		return err
	}
	defer t.Close()
	for i, frames := range rehearsedClips {
		if err := t.prepare(frames); err != nil && (i == 0 || !noRoom(err)) {
			return err
		}
	}
	return nil
}

// RehearsePatches is RehearseVision for a model without an image tower.
func RehearsePatches(ctx context.Context, kit *ops.Kit, a *arch.PatchEmbedder) error {
	p, err := NewPatches(ctx, kit, a, Options{})
	if err != nil {
		return err
	}
	defer p.Close()
	for i, soft := range rehearsedImages {
		if err := p.fit(min(soft, arch.MaxImageTokens)); err != nil && (i == 0 || !noRoom(err)) {
			return err
		}
	}
	return nil
}

// RehearseFrames is RehearseVision for a model without an audio tower.
func RehearseFrames(ctx context.Context, kit *ops.Kit, a *arch.FrameEmbedder) error {
	f, err := NewFrames(ctx, kit, a, Options{})
	if err != nil {
		return err
	}
	defer f.Close()
	for i, mel := range rehearsedClips {
		if err := f.fit(mel / 4); err != nil && (i == 0 || !noRoom(err)) {
			return err
		}
	}
	return nil
}

func noRoom(err error) bool {
	return errors.Is(err, wgslkit.ErrLimit) || errors.Is(err, wgslkit.ErrOutOfMemory)
}

package multimodal

import (
	"context"
	"errors"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/multimodal/cpu"
	"github.com/gemwire/gemwire/multimodal/gpu"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// places are where a tower can be loaded.
type places[T any] struct {
	rehearse func(ctx context.Context, kit *ops.Kit) error
	onGPU    func(ctx context.Context, kit *ops.Kit, options gpu.Options) (T, error)
	onCPU    func(ctx context.Context, options cpu.Options) (T, error)
}

// load loads a tower beside the model: on its GPU, or on the CPU.
func (p places[T]) load(ctx context.Context, m *Media, kind chat.PartType) (tower T, err error) {
	progress := m.progress(kind)
	if kit := m.kit(); kit != nil {
		kit, err = m.model.ExamineKernels(ctx, kit, func(kit *ops.Kit) error { return p.rehearse(ctx, kit) })
		if err == nil {
			if tower, err = p.onGPU(ctx, kit, gpu.Options{Progress: progress}); err == nil {
				return tower, nil
			}
		}
		if !m.mayLeaveGPU(err) {
			return tower, err
		}
	}
	return p.onCPU(ctx, cpu.Options{Progress: progress})
}

// visionTowerOf is where an image tower can be loaded.
func visionTowerOf(v *arch.Vision) places[visionTower] {
	return places[visionTower]{
		rehearse: func(ctx context.Context, kit *ops.Kit) error { return gpu.RehearseVision(ctx, kit, v) },
		onGPU: func(ctx context.Context, kit *ops.Kit, options gpu.Options) (visionTower, error) {
			return gpu.NewVision(ctx, kit, v, options)
		},
		onCPU: func(ctx context.Context, options cpu.Options) (visionTower, error) {
			return cpu.NewVision(ctx, v, options)
		},
	}
}

// patchesOf is visionTowerOf for a model without an image tower.
func patchesOf(p *arch.PatchEmbedder) places[visionTower] {
	return places[visionTower]{
		rehearse: func(ctx context.Context, kit *ops.Kit) error { return gpu.RehearsePatches(ctx, kit, p) },
		onGPU: func(ctx context.Context, kit *ops.Kit, options gpu.Options) (visionTower, error) {
			return gpu.NewPatches(ctx, kit, p, options)
		},
		onCPU: func(ctx context.Context, options cpu.Options) (visionTower, error) {
			return cpu.NewPatches(ctx, p, options)
		},
	}
}

// audioTowerOf is where an audio tower can be loaded.
func audioTowerOf(a *arch.Audio) places[audioTower] {
	return places[audioTower]{
		rehearse: func(ctx context.Context, kit *ops.Kit) error { return gpu.RehearseAudio(ctx, kit, a) },
		onGPU: func(ctx context.Context, kit *ops.Kit, options gpu.Options) (audioTower, error) {
			return gpu.NewAudio(ctx, kit, a, options)
		},
		onCPU: func(ctx context.Context, options cpu.Options) (audioTower, error) {
			return cpu.NewAudio(ctx, a, options)
		},
	}
}

// framesOf is audioTowerOf for a model without an audio tower.
func framesOf(f *arch.FrameEmbedder) places[audioTower] {
	return places[audioTower]{
		rehearse: func(ctx context.Context, kit *ops.Kit) error { return gpu.RehearseFrames(ctx, kit, f) },
		onGPU: func(ctx context.Context, kit *ops.Kit, options gpu.Options) (audioTower, error) {
			return gpu.NewFrames(ctx, kit, f, options)
		},
		onCPU: func(ctx context.Context, options cpu.Options) (audioTower, error) {
			return cpu.NewFrames(ctx, f, options)
		},
	}
}

// kit is what towers on the GPU compute with; nil for towers on the CPU.
func (m *Media) kit() *ops.Kit {
	if m.options.Device == gemma4.DeviceCPU {
		return nil
	}
	return m.model.Kit()
}

// mayLeaveGPU says whether a tower that cannot be loaded on the GPU goes to the
// CPU: where there is no room, unless the GPU was asked for.
func (m *Media) mayLeaveGPU(err error) bool {
	full := errors.Is(err, wgslkit.ErrOutOfMemory) || errors.Is(err, wgslkit.ErrLimit)
	return full && m.options.Device != gemma4.DeviceGPU
}

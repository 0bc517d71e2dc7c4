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

// newVision loads the image tower beside the model: on its GPU, or on the CPU.
func (m *Media) newVision(ctx context.Context, v *arch.Vision) (visionTower, error) {
	if kit := m.kit(); kit != nil {
		kit, err := m.model.ExamineKernels(ctx, kit, func(kit *ops.Kit) error {
			return gpu.RehearseVision(ctx, kit, v)
		})
		if err == nil {
			var tower *gpu.Vision
			if tower, err = gpu.NewVision(ctx, kit, v, gpu.Options{Progress: m.progress(chat.Image)}); err == nil {
				return tower, nil
			}
		}
		if !m.mayLeaveGPU(err) {
			return nil, err
		}
	}
	tower, err := cpu.NewVision(ctx, v, cpu.Options{Progress: m.progress(chat.Image)})
	if err != nil {
		return nil, err
	}
	return tower, nil
}

// newAudio is newVision for the audio tower.
func (m *Media) newAudio(ctx context.Context, a *arch.Audio) (audioTower, error) {
	if kit := m.kit(); kit != nil {
		kit, err := m.model.ExamineKernels(ctx, kit, func(kit *ops.Kit) error {
			return gpu.RehearseAudio(ctx, kit, a)
		})
		if err == nil {
			var tower *gpu.Audio
			if tower, err = gpu.NewAudio(ctx, kit, a, gpu.Options{Progress: m.progress(chat.Audio)}); err == nil {
				return tower, nil
			}
		}
		if !m.mayLeaveGPU(err) {
			return nil, err
		}
	}
	tower, err := cpu.NewAudio(ctx, a, cpu.Options{Progress: m.progress(chat.Audio)})
	if err != nil {
		return nil, err
	}
	return tower, nil
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

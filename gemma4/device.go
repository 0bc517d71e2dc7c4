package gemma4

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gemma4/cpu"
	"github.com/gemwire/gemwire/gemma4/gpu"
	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// Device says where a model is computed.
type Device string

// The devices.
const (
	// DeviceAuto takes the GPU, and the CPU where there is none or only a
	// software rasterizer that nobody named.
	DeviceAuto Device = ""
	DeviceGPU  Device = "gpu"
	DeviceCPU  Device = "cpu"
)

// What an engine answers beside engine.Engine, and its states beside engine.State, on
// one device alone. Nothing else is asked of either.
type (
	gpuEngine interface {
		Kit() *ops.Kit
		Weights() *gpu.Weights
		ProfileStep(context.Context, engine.BatchOptions, int) ([]wgslkit.KernelTime, error)
		RehearseBatch(context.Context, *ops.Kit, engine.BatchOptions, []adapter.Weighted) error
	}
	gpuState interface {
		Profile(token int32) ([]wgslkit.KernelTime, error)
		Dispatches() int
	}
	cpuEngine interface{ Model() *cpu.Model }
)

var (
	_ gpuEngine = (*gpu.Engine)(nil)
	_ cpuEngine = (*cpu.Engine)(nil)
)

// newEngine takes the GPU or the CPU. Only a missing GPU leads to the CPU by
// itself: a model that is too large, or a fault, is told and left to the user.
// beforeWeights, where given, is waited for before the GPU's weights are read.
func (m *Model) newEngine(ctx context.Context, opts OpenOptions, beforeWeights func()) (engine.Engine, error) {
	if opts.Device == DeviceCPU {
		return m.newCPUEngine(ctx, opts)
	}
	if opts.Device != DeviceAuto && opts.Device != DeviceGPU {
		return nil, fmt.Errorf("%w: device %q; say gpu or cpu", ErrUnsupported, opts.Device)
	}
	e, err := m.newGPUEngine(ctx, opts, beforeWeights)
	if err == nil || opts.Device == DeviceGPU || !errors.Is(err, wgslkit.ErrNoDevice) {
		return e, err
	}
	m.info.Fallback = err.Error()
	e, cpuErr := m.newCPUEngine(ctx, opts)
	if errors.Is(cpuErr, ErrDoesNotFit) {
		// What is missing is the GPU.
		return nil, fmt.Errorf("%w; on the CPU, %v", err, cpuErr)
	}
	return e, cpuErr
}

func (m *Model) newCPUEngine(ctx context.Context, opts OpenOptions) (engine.Engine, error) {
	e, err := cpu.NewEngine(ctx, m.arch, opts.engineOptions(m.context))
	if err != nil {
		return nil, err
	}
	return e, nil
}

func (m *Model) newGPUEngine(ctx context.Context, opts OpenOptions, beforeWeights func()) (engine.Engine, error) {
	m.examiner, m.hearExamined = opts.examiner(), opts.Examined
	device, err := opts.openGPU(m.examiner)
	if err != nil {
		return nil, err
	}
	if SlowerThanCPU(device, opts) {
		err := fmt.Errorf("%w: %s is a software rasterizer, which the CPU path outruns; %s",
			wgslkit.ErrNoDevice, device.Info().Name, askForGPU)
		if opts.GPU.Library != "" || os.Getenv("GEMWIRE_WGPU") != "" {
			if refused := device.Info().LibraryRefused; refused != "" {
				err = fmt.Errorf("%w; the library that was asked for cannot be used: %s", err, refused)
			}
		}
		return nil, errors.Join(err, device.Close())
	}
	options := opts.engineOptions(m.context)
	options.BeforeWeights = beforeWeights
	m.options = options
	kit, err := m.ExamineKernels(ctx, ops.New(device), func(kit *ops.Kit) error {
		return gpu.Rehearse(ctx, kit, m.arch, options, nil, nil)
	})
	if err != nil {
		return nil, errors.Join(err, device.Close())
	}
	e, err := gpu.NewEngine(ctx, kit, m.arch, options)
	if err != nil {
		return nil, err
	}
	return e, nil
}

// SlowerThanCPU says that nobody asked for the device and it only plays a GPU: models then run on the CPU.
func SlowerThanCPU(d *wgslkit.Device, opts OpenOptions) bool {
	return opts.Device == DeviceAuto && opts.GPU.Adapter == "" && os.Getenv("GEMWIRE_ADAPTER") == "" &&
		d.Info().Kind == wgslkit.CPU
}

// Kit is what the model computes with on its GPU; nil on the CPU. It closes with
// the model.
func (m *Model) Kit() *ops.Kit {
	if e, ok := m.engine.(gpuEngine); ok {
		return e.Kit()
	}
	return nil
}

// GPUWeights are the weights that an open model has on its GPU, by the
// tensors of its file, for whoever computes with them beside the model. They live
// as long as the model and must not be released.
type GPUWeights = gpu.Weights

// MatrixRows is where a tensor's rows lie in a matrix on the GPU.
type MatrixRows = gpu.MatrixRows

// GPUWeights returns the model's weights on the GPU, nil on the CPU.
func (m *Model) GPUWeights() *GPUWeights {
	if e, ok := m.engine.(gpuEngine); ok {
		return e.Weights()
	}
	return nil
}

// CPU returns what computes the model on the CPU, nil on the GPU. It lives as long
// as the model and must not be closed.
func (m *Model) CPU() *cpu.Model {
	if e, ok := m.engine.(cpuEngine); ok {
		return e.Model()
	}
	return nil
}

// GPUMemory is the bytes in use on the GPU by purpose; nil on the CPU.
func (m *Model) GPUMemory() map[wgslkit.Purpose]int64 {
	if kit := m.Kit(); kit != nil {
		return kit.Device().Memory()
	}
	return nil
}

// Profile computes the last token of the session's text once more and says
// what each kernel of a decoding step took on the GPU, slowest first. The
// session then has one token less computed. It fails with ErrUnsupported on
// the CPU, for a session without text, and where the GPU has no timestamps.
func (s *Session) Profile(ctx context.Context) ([]wgslkit.KernelTime, error) {
	if err := s.begin(); err != nil {
		return nil, err
	}
	defer s.end()
	state, ok := s.state.(gpuState)
	n := s.state.Len()
	switch {
	case !ok:
		return nil, fmt.Errorf("%w: a profile on the CPU; take one on a GPU", ErrUnsupported)
	case !s.model.info.Features.Timestamps:
		return nil, fmt.Errorf("%w: %s has no timestamps", ErrUnsupported, s.model.info.DeviceName)
	case n == 0:
		return nil, fmt.Errorf("%w: a profile of a session without text; compute a prompt first", ErrUnsupported)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	last := s.text.Tokens[n-1]
	// A sliding cache holds the window before the last token as well.
	s.truncate(s.state.Rewind(n - 1))
	return state.Profile(last)
}

// Dispatches is how many kernels a decoding step runs; 0 on the CPU.
func (s *Session) Dispatches() int {
	if state, ok := s.state.(gpuState); ok {
		return state.Dispatches()
	}
	return 0
}

// ProfileStep says what each kernel of a step of a batch takes on the GPU, slowest first,
// where all streams are in use behind so many tokens. It fails with ErrUnsupported on the CPU
// and where the GPU has no timestamps.
func (m *Model) ProfileStep(ctx context.Context, o BatchOptions, behind int) ([]wgslkit.KernelTime, error) {
	o, err := o.filled(m)
	if err != nil {
		return nil, err
	}
	e, ok := m.engine.(gpuEngine)
	switch {
	case !ok:
		return nil, fmt.Errorf("%w: a profile on the CPU; take one on a GPU", ErrUnsupported)
	case !m.info.Features.Timestamps:
		return nil, fmt.Errorf("%w: %s has no timestamps", ErrUnsupported, m.info.DeviceName)
	case behind < 1 || behind+2 > o.Context:
		return nil, fmt.Errorf("%w: a profile behind %d tokens in a context of %d", ErrUnsupported, behind, o.Context)
	}
	release, err := m.Retain()
	if err != nil {
		return nil, err
	}
	defer release()
	m.adapters.using.RLock()
	defer m.adapters.using.RUnlock()
	return e.ProfileStep(ctx, engine.BatchOptions{Streams: o.Streams, Slots: o.Streams, Context: o.Context,
		Piece: o.Piece}, behind)
}

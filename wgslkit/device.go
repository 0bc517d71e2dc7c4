package wgslkit

import (
	"fmt"
	"os"
	"sync"

	"github.com/gemwire/gemwire/wgslkit/internal/backend"
)

// Options say which device to open and how much of it to use.
type Options struct {
	// Adapter is part of the adapter's name, in any case; empty takes the
	// fastest, or what the environment variable GEMWIRE_ADAPTER names.
	Adapter string
	// Power says which of several adapters to prefer; empty is HighPerformance.
	Power PowerPreference
	// MemoryBudget bounds the bytes of all buffers together, those that reads wait in
	// with them: what is over it fails with ErrOutOfMemory. 0 is no bound but the device's.
	MemoryBudget int64
	// MinimumLimits asks for no more than every WebGPU device has. The
	// environment variable GEMWIRE_MINIMUM_LIMITS=1 does the same.
	MinimumLimits bool
	// MaxBindingSize lowers the device's storage binding and buffer limits,
	// to try what a smaller device does; 0 leaves them.
	MaxBindingSize int64
	// Library is the whole path of a wgpu-native or a Dawn to load in place of the
	// wgpu-native that is linked in, or LibraryOff. Empty takes what the environment
	// variable GEMWIRE_WGPU says, or a libwgpu_native or libwebgpu_dawn next to the
	// program or in the folder gemwire of the user's settings. What cannot be used is passed over, and Info
	// says why. A browser has its own.
	Library string
	// Disable switches features off that the device has.
	Disable Features
	// Avoid, where set, is asked what does not work on the adapter that was chosen.
	Avoid func(Info) Avoid
	// CountWork makes Device.Work count.
	CountWork bool
}

// LibraryOff is the Library that is linked in, whatever others there are.
const LibraryOff = "off"

// PowerPreference weighs speed against the battery, in WebGPU's words.
type PowerPreference string

// The preferences. A browser may take them for a hint, or not at all.
const (
	HighPerformance PowerPreference = "high-performance"
	LowPower        PowerPreference = "low-power"
)

func (p PowerPreference) check() error {
	switch p {
	case "", HighPerformance, LowPower:
		return nil
	}
	return fmt.Errorf("%w: power preference %q; say %s or %s", ErrValidation, string(p), HighPerformance, LowPower)
}

// Device is one GPU with everything that was made on it. Its methods may be
// called from several goroutines.
type Device struct {
	backend  backend.Backend
	info     Info
	limits   Limits
	features Features
	budget   int64
	avoid    Avoid

	rehearses bool // see Rehearse

	mu       sync.Mutex
	closed   bool
	used     map[Purpose]int64
	peak     int64 // the most that was in use at once
	buffers  map[*Buffer]struct{}
	kernels  map[string]*Kernel
	asked    map[KernelID]bool          // kernels asked for, while that is traced
	staging  map[int64][]backend.Buffer // idle read buffers by size
	programs int
	spare    map[*byte]func() bool // see OnShortage

	unflushed int64 // bytes uploaded since the last Flush

	wanted       Wanted         // kernels asked for, where this rehearses
	compiling    sync.Mutex     // one kernel at a time; taken before mu
	precompiling sync.WaitGroup // of Precompile
}

// Open opens the adapter that opts asks for, with all of its limits.
func Open(opts Options) (*Device, error) {
	if opts.Adapter == "" {
		opts.Adapter = os.Getenv("GEMWIRE_ADAPTER")
	}
	if opts.Library == "" {
		opts.Library = os.Getenv("GEMWIRE_WGPU")
	}
	opts.MinimumLimits = opts.MinimumLimits || os.Getenv("GEMWIRE_MINIMUM_LIMITS") == "1"
	if err := opts.Power.check(); err != nil {
		return nil, err
	}
	b, err := openBackend(backend.Options{
		Adapter: opts.Adapter, LowPower: opts.Power == LowPower, MinimumLimits: opts.MinimumLimits,
		Library: opts.Library,
	})
	if err != nil {
		return nil, err
	}
	d := newDevice(b)
	d.budget = opts.MemoryBudget
	if opts.CountWork {
		d.backend = &countedBackend{Backend: b}
	}
	d.info, d.limits, d.features = b.Describe()
	d.applyOptions(opts)
	return d, nil
}

func newDevice(b backend.Backend) *Device {
	return &Device{
		backend: b,
		used:    map[Purpose]int64{},
		buffers: map[*Buffer]struct{}{},
		kernels: map[string]*Kernel{},
		staging: map[int64][]backend.Buffer{},
	}
}

func (d *Device) applyOptions(opts Options) {
	if opts.Avoid != nil {
		d.avoid = opts.Avoid(d.info)
		d.disable(d.avoid.Features)
	}
	d.disable(opts.Disable)
	if m := opts.MaxBindingSize; m > 0 {
		d.limits.MaxStorageBindingSize = min(d.limits.MaxStorageBindingSize, m)
		d.limits.MaxBufferSize = min(d.limits.MaxBufferSize, m)
	}
}

func (d *Device) disable(f Features) {
	d.features.Timestamps = d.features.Timestamps && !f.Timestamps
	d.features.Subgroups = d.features.Subgroups && !f.Subgroups
	d.features.ShaderF16 = d.features.ShaderF16 && !f.ShaderF16
	d.features.PackedDot = d.features.PackedDot && !f.PackedDot
	if d.features.SubgroupMatrix = d.features.SubgroupMatrix && !f.SubgroupMatrix; !d.features.SubgroupMatrix {
		d.info.SubgroupMatrices = nil
	}
}

// Info names the adapter.
func (d *Device) Info() Info { return d.info }

// Limits are the device's limits in force.
func (d *Device) Limits() Limits { return d.limits }

// Features are the optional abilities in force.
func (d *Device) Features() Features { return d.features }

// Budget is the bound on all buffers together, 0 for none.
func (d *Device) Budget() int64 { return d.budget }

// Aside runs what is not part of what the device is for, such as its examination: what
// run takes counts neither against the budget nor for Peak. Nothing else runs meanwhile.
func (d *Device) Aside(run func() error) error {
	d.mu.Lock()
	budget, peak := d.budget, d.peak
	d.budget = 0
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		for size, idle := range d.staging {
			for _, h := range idle {
				d.backend.FreeBuffer(h)
			}
			d.used[Staging] -= size * int64(len(idle))
		}
		clear(d.staging)
		d.budget, d.peak = budget, peak
	}()
	return run()
}

// Wait blocks until all submitted work is done.
func (d *Device) Wait() error { return d.backend.Wait(0) }

// Close releases the device and what is left on it. It reports buffers and
// programs that were not released before: a leak.
func (d *Device) Close() error {
	d.mu.Lock()
	closed := d.closed
	d.closed = true
	d.mu.Unlock()
	if closed {
		return nil
	}
	d.precompiling.Wait()
	d.compiling.Lock() // who compiles still needs the backend
	defer d.compiling.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	leaked := len(d.buffers)
	_ = d.backend.Wait(0)
	for b := range d.buffers {
		d.backend.FreeBuffer(b.handle)
		b.handle = nil
	}
	for _, idle := range d.staging {
		for _, h := range idle {
			d.backend.FreeBuffer(h)
		}
	}
	for _, k := range d.kernels {
		d.backend.FreePipeline(k.pipeline)
	}
	d.backend.Close()
	if leaked > 0 || d.programs > 0 {
		return fmt.Errorf("device closed with %d buffers and %d programs not released", leaked, d.programs)
	}
	return nil
}

//go:build (darwin || linux || windows) && (amd64 || arm64)

package nocgo

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/gemwire/gemwire/wgslkit/adapter"
	"github.com/gemwire/gemwire/wgslkit/internal/backend"
	"github.com/gemwire/gemwire/wgslkit/internal/backend/native"
)

// driver is a device of a library.
type driver struct {
	lib *library
	// mu guards the device's stack of error scopes: a guarded call must not collect another one's error.
	mu                               sync.Mutex
	instance, adapter, device, queue uintptr
	info                             adapter.Info
	features                         adapter.Features
	period                           float64 // nanoseconds of a timestamp's tick, 0 where there are none
	state                            *deviceState
	stateNumber                      uintptr
	submission                       submission
}

// submission is what is needed to submit once more, so that nothing of it is allocated again. mu guards it.
type submission struct {
	frame    frame
	pass     passDesc
	stamps   stamps
	commands uintptr
}

// Open opens the adapter that opts asks for with the library at path. The error says why it is not used.
func Open(path string, opts backend.Options) (backend.Backend, error) {
	lib, err := loadLibrary(path)
	if err != nil {
		return nil, err
	}
	b := &driver{lib: lib, instance: lib.openInstance(), state: &deviceState{}}
	if b.instance == 0 {
		return nil, errors.New("it makes no instance")
	}
	b.stateNumber = await(b.state)
	if err := b.open(opts); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

func (b *driver) open(opts backend.Options) (err error) {
	release := func(a uintptr) { b.lib.AdapterRelease.call(a) }
	b.adapter, err = native.BestAdapter(b.lib.adapters(b.instance), b.lib.describe, release, opts)
	if err != nil {
		return err
	}
	b.info = b.lib.describe(b.adapter)
	return b.openDevice(opts)
}

var kinds = map[uint32]adapter.Kind{adapterDiscrete: adapter.DiscreteGPU, adapterIntegrated: adapter.IntegratedGPU,
	adapterCPU: adapter.CPU}

var backends = map[uint32]string{backendVulkan: "Vulkan", backendMetal: "Metal", backendD3D12: "D3D12",
	backendGL: "OpenGL", backendGLES: "OpenGLES"}

// describe is what an adapter says of itself.
func (l *library) describe(a uintptr) adapter.Info {
	about := adapter.Info{Kind: adapter.UnknownKind, Library: l.name,
		Unzeroed: true, // both libraries are asked to leave workgroup memory as it is
	}
	info := &adapterInfo{}
	if uint32(l.AdapterGetInfo.call(a, uintptr(unsafe.Pointer(info)))) != statusSuccess {
		return about
	}
	about.Name, about.Vendor = goText(info.device.data, info.device.length), goText(info.vendor.data, info.vendor.length)
	about.Driver, about.Backend = goText(info.description.data, info.description.length), backends[info.backend]
	about.SubgroupMin, about.SubgroupMax = int(info.subgroupMin), int(info.subgroupMax)
	if kind, ok := kinds[info.kind]; ok {
		about.Kind = kind
	}
	l.AdapterInfoFreeMembers.callWith(wordsOf(info))
	about.SubgroupMatrices = l.subgroupMatrices(a)
	return about
}

func (b *driver) openDevice(opts backend.Options) error {
	most, err := b.adapterLimits()
	if err != nil {
		return fmt.Errorf("%s refused a device: %w", b.info.Name, err)
	}
	var numbers []uint32
	for _, f := range b.lib.features() {
		if uint32(b.lib.AdapterHasFeature.call(b.adapter, uintptr(f.number))) == 0 {
			continue
		}
		numbers = append(numbers, f.number)
		if f.grant != nil {
			f.grant(&b.features)
		}
	}
	desc := &deviceDesc{features: uint(len(numbers)), required: unsafe.Pointer(unsafe.SliceData(numbers))}
	if !opts.MinimumLimits {
		desc.limits = most
	}
	desc.lost.mode = spontaneous
	desc.uncaptured = uncaptured{callback: b.lib.callbacks.uncaptured, user1: b.stateNumber}
	b.lib.prepareDevice(desc, b.stateNumber)
	if b.device, err = b.requestDevice(desc); err != nil {
		return err
	}
	b.queue = b.lib.DeviceGetQueue.call(b.device)
	b.features.PackedDot = true // part of their WGSL, emulated where the device has none
	b.features.SubgroupMatrix = b.features.SubgroupMatrix && len(b.info.SubgroupMatrices) > 0
	if b.features.Timestamps {
		b.period = b.lib.timestampPeriod(b.queue)
	}
	return nil
}

func (b *driver) requestDevice(desc *deviceDesc) (uintptr, error) {
	asked := &request{}
	number := await(asked)
	defer forget(number)
	answer := onSpontaneous(b.lib.callbacks.device, number)
	b.lib.AdapterRequestDevice.callWith(wordsOf(&answer), b.adapter, uintptr(unsafe.Pointer(desc)))
	got := read(asked, func(r *request) request { return *r })
	if got.handle == 0 {
		return 0, fmt.Errorf("%s refused a device: %w", b.info.Name, native.Wrap("device", native.KindUnknown, got.why))
	}
	return got.handle, nil
}

// What a library leaves alone of a struct that it fills.
const (
	untouched   = 0xA5
	spareLimits = 64
)

// adapterLimits also finds out that a library has more or fewer limits than the headers: it is another version then,
// whatever it says.
func (b *driver) adapterLimits() (*limits, error) {
	room := &struct {
		limits
		spare [spareLimits]byte
	}{}
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(room)), unsafe.Sizeof(*room))
	for i := range bytes {
		bytes[i] = untouched
	}
	room.next = 0
	if uint32(b.lib.AdapterGetLimits.call(b.adapter, uintptr(unsafe.Pointer(room)))) != statusSuccess {
		return nil, errors.New("the adapter does not say its limits")
	}
	if room.immediates == untouched*0x01010101 {
		return nil, errors.New("the library has fewer limits than this gemwire counts on: it is another version")
	}
	for _, byte := range room.spare {
		if byte != untouched {
			return nil, errors.New("the library has more limits than this gemwire has room for: it is another version")
		}
	}
	// All ones mean "not asked for"; NVIDIA's driver says so of its own limit.
	room.bufferSize = min(room.bufferSize, 1<<40)
	return &room.limits, nil
}

func (b *driver) Describe() (adapter.Info, adapter.Limits, adapter.Features) {
	l := &limits{}
	if uint32(b.lib.DeviceGetLimits.call(b.device, uintptr(unsafe.Pointer(l)))) != statusSuccess {
		return b.info, adapter.Limits{}, b.features
	}
	return b.info, adapter.Limits{
		MaxBufferSize:             native.ClampInt64(l.bufferSize),
		MaxStorageBindingSize:     native.ClampInt64(l.storageBindingSize),
		MaxUniformBindingSize:     native.ClampInt64(l.uniformBindingSize),
		MaxStorageBuffers:         l.storageBuffers,
		MinStorageAlignment:       l.storageAlignment,
		MinUniformAlignment:       l.uniformAlignment,
		MaxWorkgroupStorage:       l.workgroupStorage,
		MaxWorkgroupInvocations:   l.workgroupInvocations,
		MaxWorkgroupSizeX:         l.workgroupX,
		MaxWorkgroupsPerDimension: l.workgroupsPerDimension,
	}, b.features
}

// Close ends what the queue has begun, and releases everything.
func (b *driver) Close() {
	if b.device != 0 {
		b.flush()
		b.lib.QueueRelease.call(b.queue)
		b.lib.DeviceRelease.call(b.device)
	}
	forget(b.stateNumber)
	if b.adapter != 0 {
		b.lib.AdapterRelease.call(b.adapter)
	}
	b.lib.InstanceRelease.call(b.instance)
}

//go:build (darwin || linux || windows) && (amd64 || arm64)

package nocgo

import (
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/gemwire/gemwire/wgslkit/adapter"
	"github.com/gemwire/gemwire/wgslkit/internal/backend/native"
)

// Loads says whether libraries are loaded on this system.
const Loads = true

// wgpuMajor is the version of wgpu-native whose headers the layouts follow. Others lay their structs out in other ways.
const wgpuMajor = 29

// dawnAge is when Dawn's webgpu.h has been as the layouts have it. Dawn has no version to ask for.
const dawnAge = "of March 2026 or later"

// library is a wgpu-native or a Dawn, and what it does in its own way.
type library struct {
	calls
	dialect
	name      string
	callbacks callbacks
}

// dialect is what one library does in its own way.
type dialect interface {
	start()
	openInstance() uintptr
	adapters(instance uintptr) []uintptr
	subgroupMatrices(adapter uintptr) []adapter.SubgroupMatrix
	strange() string // a word that its WGSL refuses, or none
	features() []feature
	prepareDevice(desc *deviceDesc, state uintptr)
	newModule(device uintptr, named *labelled) uintptr
	timestampPeriod(queue uintptr) float64 // nanoseconds a tick
	submit() proc                          // it takes the queue, and how many commands are where
	// scopes says whether errors are caught by scopes. Elsewhere a callback tells them on the thread of the call that
	// failed, before that returns.
	scopes() bool
	// poll has callbacks called, and says whether the queue is known to be empty.
	poll(instance, device uintptr) bool
	// workDone has a mapState told when what has been submitted is done; false means that poll says it.
	workDone(queue uintptr, state uintptr) bool
}

// feature is asked for by the library's number; has is set where a device has it, nil for one that grants nothing by
// itself.
type feature struct {
	number uint32
	grant  func(*adapter.Features)
}

// calls are the functions that both libraries have, by their names without wgpu.
type calls struct {
	CreateInstance, InstanceRelease,
	AdapterGetInfo, AdapterInfoFreeMembers, AdapterHasFeature, AdapterGetLimits, AdapterRequestDevice, AdapterRelease,
	DeviceGetLimits, DeviceGetQueue, DevicePushErrorScope, DevicePopErrorScope, DeviceCreateBuffer,
	DeviceCreateBindGroupLayout, DeviceCreatePipelineLayout, DeviceCreateComputePipeline, DeviceCreateBindGroup,
	DeviceCreateQuerySet, DeviceCreateCommandEncoder, DeviceRelease,
	CommandEncoderBeginComputePass, CommandEncoderCopyBufferToBuffer, CommandEncoderResolveQuerySet,
	CommandEncoderFinish, CommandEncoderRelease, CommandBufferRelease,
	ComputePassEncoderSetPipeline, ComputePassEncoderSetBindGroup, ComputePassEncoderDispatchWorkgroups,
	ComputePassEncoderEnd, ComputePassEncoderRelease,
	QueueWriteBuffer, QueueRelease,
	BufferMapAsync, BufferGetConstMappedRange, BufferUnmap, BufferDestroy, BufferRelease,
	BindGroupLayoutRelease, PipelineLayoutRelease, ShaderModuleRelease, ComputePipelineRelease, BindGroupRelease,
	QuerySetRelease proc
}

// resolve finds the function of each field of the struct at functions.
func resolve(handle uintptr, functions any) error {
	fields := reflect.ValueOf(functions).Elem()
	for i := range fields.NumField() {
		address, err := symbol(handle, "wgpu"+fields.Type().Field(i).Name)
		if err != nil {
			return err
		}
		fields.Field(i).SetUint(uint64(address))
	}
	return nil
}

// loaded is what this process has loaded. There is one at most, and it stays: its threads do.
var loaded struct {
	mu   sync.Mutex
	path string
	*library
}

// loadLibrary loads the library at path, once.
func loadLibrary(path string) (*library, error) {
	if err := native.CheckLibrary(path); err != nil {
		return nil, err
	}
	loaded.mu.Lock()
	defer loaded.mu.Unlock()
	if loaded.library != nil && loaded.path != path {
		return nil, fmt.Errorf("%s is not loaded, because %s is already, and there can be only one", path, loaded.path)
	}
	if loaded.library != nil {
		return loaded.library, nil
	}
	lib, err := load(path)
	if err != nil {
		return nil, err
	}
	lib.start()
	loaded.path, loaded.library = path, lib
	return lib, nil
}

func load(path string) (*library, error) {
	handle, err := loadFile(path)
	if err != nil {
		return nil, err
	}
	has := func(name string) bool {
		address, err := symbol(handle, name)
		return err == nil && address != 0
	}
	lib := &library{}
	switch {
	case has("wgpuGetVersion"):
		err = lib.useWGPU(handle, path)
	case has("wgpuDeviceTick"): // Dawn's alone
		err = lib.useDawn(handle, path)
	default:
		err = fmt.Errorf("%s is neither wgpu-native nor Dawn", path)
	}
	if err != nil {
		return nil, err
	}
	lib.callbacks = newCallbacks()
	return lib, nil
}

func (l *library) useWGPU(handle uintptr, path string) error {
	w := &wgpu{lib: l}
	if err := errors.Join(resolve(handle, &l.calls), resolve(handle, &w.wgpuCalls)); err != nil {
		return fmt.Errorf("%s is no wgpu-native of version %d: %w", path, wgpuMajor, err)
	}
	if err := w.resolvePeriod(handle); err != nil {
		return fmt.Errorf("%s is no wgpu-native of version %d: %w", path, wgpuMajor, err)
	}
	version := uint32(w.GetVersion.call())
	if major := version >> 24; major != wgpuMajor {
		return fmt.Errorf("%s has version %d; this gemwire knows how to call %d", path, major, wgpuMajor)
	}
	l.dialect, l.name = w, native.LibraryName(version, path)
	return nil
}

// useDawn tells a Dawn of another time by its functions; one with the same functions and other structs is found out
// when its adapter's limits are read.
func (l *library) useDawn(handle uintptr, path string) error {
	d := &dawn{lib: l}
	if err := errors.Join(resolve(handle, &l.calls), resolve(handle, &d.dawnCalls)); err != nil {
		return fmt.Errorf("%s is no Dawn %s: %w", path, dawnAge, err)
	}
	l.dialect, l.name = d, fmt.Sprintf("Dawn (%s)", path)
	return nil
}

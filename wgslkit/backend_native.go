//go:build !js

package wgslkit

// #include <stdlib.h>
// #include "native.h"
import "C"

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/cogentcore/webgpu/wgpu"
)

// nativeBackend is wgpu through its Go binding. Set-up goes through the
// binding; what is called for every token goes through native.c.
type nativeBackend struct {
	// mu guards the device's stack of error scopes: a guarded call must not
	// collect another one's error.
	mu       sync.Mutex
	instance *wgpu.Instance
	adapter  *wgpu.Adapter
	device   *wgpu.Device
	queue    *wgpu.Queue
	cDevice  unsafe.Pointer
	cQueue   unsafe.Pointer
	features Features
}

// openBackend picks an adapter as opts asks and requests a device with all
// the limits that the adapter has.
func openBackend(opts Options) (backend, error) {
	wgpu.SetLogLevel(wgpu.LogLevelOff)
	quietWayland()
	// A descriptor would be passed on with fields that the binding leaves
	// uninitialised, so there is none; the backends are chosen below.
	instance := wgpu.CreateInstance(nil)
	adapter, err := pickAdapter(instance, opts)
	if err != nil {
		instance.Release()
		return nil, err
	}
	b := &nativeBackend{instance: instance, adapter: adapter}
	if err := b.requestDevice(opts); err != nil {
		adapter.Release()
		instance.Release()
		return nil, err
	}
	return b, nil
}

// quietWayland keeps the Vulkan loader of a machine without a desktop from
// complaining on stderr about a variable that only windows need.
func quietWayland() {
	if runtime.GOOS == "linux" && os.Getenv("XDG_RUNTIME_DIR") == "" {
		os.Setenv("XDG_RUNTIME_DIR", os.TempDir())
	}
}

func pickAdapter(instance *wgpu.Instance, opts Options) (*wgpu.Adapter, error) {
	var best *wgpu.Adapter
	var names []string
	bestRank := -1
	for _, a := range instance.EnumerateAdapters(&wgpu.InstanceEnumerateAdapterOptons{Backends: wgpu.InstanceBackendPrimary}) {
		info := adapterInfo(a)
		names = append(names, info.Name)
		rank := adapterRank(info, opts)
		if rank > bestRank {
			best, a = a, best
			bestRank = rank
		}
		if a != nil {
			a.Release()
		}
	}
	if best != nil {
		return best, nil
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%w: no Vulkan, Metal or DX12 driver was found; install one (on Debian: mesa-vulkan-drivers) or run on the CPU", ErrNoDevice)
	}
	return nil, fmt.Errorf("%w: no adapter matches %q; there are: %s", ErrNoDevice, opts.Adapter, strings.Join(names, ", "))
}

// adapterRank orders adapters by how fast they are likely to be; -1 refuses.
func adapterRank(info Info, opts Options) int {
	if opts.Adapter != "" && !strings.Contains(strings.ToLower(info.Name), strings.ToLower(opts.Adapter)) {
		return -1
	}
	switch {
	case info.Backend == "OpenGL" || info.Backend == "OpenGLES":
		return -1 // its compute is too limited to rely on
	case info.Kind == DiscreteGPU && opts.Power == LowPower:
		return 2
	case info.Kind == IntegratedGPU && opts.Power == LowPower:
		return 3
	case info.Kind == DiscreteGPU:
		return 3
	case info.Kind == IntegratedGPU:
		return 2
	case info.Kind == CPU:
		return 0
	}
	return 1
}

func adapterInfo(a *wgpu.Adapter) Info {
	i := a.GetInfo()
	kinds := map[wgpu.AdapterType]Kind{
		wgpu.AdapterTypeDiscreteGPU: DiscreteGPU, wgpu.AdapterTypeIntegratedGPU: IntegratedGPU, wgpu.AdapterTypeCPU: CPU,
	}
	kind, ok := kinds[i.AdapterType]
	if !ok {
		kind = UnknownKind
	}
	backends := map[wgpu.BackendType]string{
		wgpu.BackendTypeVulkan: "Vulkan", wgpu.BackendTypeMetal: "Metal", wgpu.BackendTypeD3D12: "D3D12",
		wgpu.BackendTypeOpenGL: "OpenGL", wgpu.BackendTypeOpenGLES: "OpenGLES",
	}
	// This version of wgpu puts the adapter's name into the description.
	return Info{Name: cmp.Or(i.DriverDescription, i.Name), Vendor: i.VendorName, Driver: i.Architecture, Backend: backends[i.BackendType], Kind: kind}
}

func (b *nativeBackend) requestDevice(opts Options) error {
	limits := b.adapter.GetLimits().Limits
	// What no kernel uses is asked for at its smallest: some drivers report
	// values there that they then refuse.
	limits.MaxPushConstantSize = 0
	// All ones mean "not asked for", which is 256 MiB; NVIDIA's driver says so
	// of its own limit.
	limits.MaxBufferSize = min(limits.MaxBufferSize, 1<<40)
	desc := &wgpu.DeviceDescriptor{Label: "gemwire", RequiredLimits: &wgpu.RequiredLimits{Limits: limits}}
	if opts.MinimumLimits {
		desc.RequiredLimits = nil
	}
	if b.adapter.HasFeature(wgpu.FeatureNameTimestampQuery) {
		desc.RequiredFeatures = append(desc.RequiredFeatures, wgpu.FeatureNameTimestampQuery)
		b.features.Timestamps = true
	}
	device, err := b.adapter.RequestDevice(desc)
	if err != nil {
		return fmt.Errorf("%w: %s refused a device: %v; update its driver, or run on the CPU", ErrNoDevice, adapterInfo(b.adapter).Name, err)
	}
	b.device, b.queue = device, device.GetQueue()
	b.cDevice, b.cQueue = refOf(device), refOf(b.queue)
	return nil
}

// refOf is the C handle inside one of the binding's objects.
func refOf(object any) unsafe.Pointer {
	return reflect.ValueOf(object).Elem().FieldByName("ref").UnsafePointer()
}

func (b *nativeBackend) describe() (Info, Limits, Features) {
	l := b.device.GetLimits().Limits
	return adapterInfo(b.adapter), Limits{
		MaxBufferSize:             clampInt64(l.MaxBufferSize),
		MaxStorageBindingSize:     clampInt64(l.MaxStorageBufferBindingSize),
		MaxUniformBindingSize:     clampInt64(l.MaxUniformBufferBindingSize),
		MaxStorageBuffers:         l.MaxStorageBuffersPerShaderStage,
		MinStorageAlignment:       l.MinStorageBufferOffsetAlignment,
		MinUniformAlignment:       l.MinUniformBufferOffsetAlignment,
		MaxWorkgroupStorage:       l.MaxComputeWorkgroupStorageSize,
		MaxWorkgroupInvocations:   l.MaxComputeInvocationsPerWorkgroup,
		MaxWorkgroupSizeX:         l.MaxComputeWorkgroupSizeX,
		MaxWorkgroupsPerDimension: l.MaxComputeWorkgroupsPerDimension,
	}, b.features
}

func clampInt64(v uint64) int64 { return int64(min(v, 1<<62)) }

// guarded runs call with error scopes of every kind around it.
func (b *nativeBackend) guarded(what string, call func() error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	C.gw_guard_begin(b.cDevice)
	err := call()
	var cerr C.gw_error
	C.gw_guard_end(b.cDevice, &cerr)
	if raised := nativeError(what, &cerr); raised != nil {
		return raised
	}
	if err != nil {
		return wrapNative(what, 0, err.Error())
	}
	return nil
}

// The values of WGPUErrorType.
const (
	nativeOutOfMemory = 2
	nativeDeviceLost  = 5
)

func nativeError(what string, cerr *C.gw_error) error {
	if cerr._type == 0 {
		return nil
	}
	return wrapNative(what, int(cerr._type), C.GoString(&cerr.message[0]))
}

func wrapNative(what string, kind int, message string) error {
	sentinel := ErrValidation
	lower := strings.ToLower(message)
	switch {
	case kind == nativeOutOfMemory || strings.Contains(lower, "not enough memory") || strings.Contains(lower, "out of memory"):
		sentinel = ErrOutOfMemory
	case kind == nativeDeviceLost || strings.Contains(lower, "device is lost") || strings.Contains(lower, "device lost"):
		sentinel = ErrDeviceLost
	}
	return fmt.Errorf("%w: %s: %s", sentinel, what, strings.Join(strings.Fields(message), " "))
}

func (b *nativeBackend) newBuffer(label string, u usage, size int64) (bufferHandle, error) {
	usages := map[usage]wgpu.BufferUsage{
		usageStorage: wgpu.BufferUsageStorage | wgpu.BufferUsageCopyDst | wgpu.BufferUsageCopySrc,
		usageUniform: wgpu.BufferUsageUniform | wgpu.BufferUsageCopyDst,
		usageMapRead: wgpu.BufferUsageMapRead | wgpu.BufferUsageCopyDst,
	}
	return b.createBuffer(label, usages[u], size)
}

func (b *nativeBackend) createBuffer(label string, u wgpu.BufferUsage, size int64) (*wgpu.Buffer, error) {
	var buffer *wgpu.Buffer
	err := b.guarded(fmt.Sprintf("buffer %q of %d bytes", label, size), func() (err error) {
		buffer, err = b.device.CreateBuffer(&wgpu.BufferDescriptor{Label: label, Usage: u, Size: uint64(size)})
		return err
	})
	if err != nil {
		return nil, err
	}
	return buffer, nil
}

func (b *nativeBackend) freeBuffer(h bufferHandle) {
	buffer := h.(*wgpu.Buffer)
	buffer.Destroy()
	buffer.Release()
}

func (b *nativeBackend) write(h bufferHandle, offset int64, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	var cerr C.gw_error
	C.gw_write(b.cDevice, b.cQueue, refOf(h), C.uint64_t(offset), unsafe.Pointer(&data[0]), C.size_t(len(data)), &cerr)
	return nativeError("write", &cerr)
}

type nativePipeline struct {
	pipeline *wgpu.ComputePipeline
	layout   *wgpu.BindGroupLayout
}

func (b *nativeBackend) newPipeline(spec pipelineSpec) (pipelineHandle, error) {
	p := &nativePipeline{}
	err := b.guarded("kernel "+spec.label, func() error { return b.buildPipeline(p, spec) })
	if err != nil {
		p.release()
		if errors.Is(err, ErrValidation) {
			err = fmt.Errorf("%w: %w", ErrShader, err)
		}
		return nil, err
	}
	return p, nil
}

func (b *nativeBackend) buildPipeline(p *nativePipeline, spec pipelineSpec) (err error) {
	p.layout, err = b.device.CreateBindGroupLayout(&wgpu.BindGroupLayoutDescriptor{
		Label: spec.label, Entries: layoutEntries(spec.bindings),
	})
	if err != nil {
		return err
	}
	layout, err := b.device.CreatePipelineLayout(&wgpu.PipelineLayoutDescriptor{
		Label: spec.label, BindGroupLayouts: []*wgpu.BindGroupLayout{p.layout},
	})
	if err != nil {
		return err
	}
	defer layout.Release()
	module, err := b.device.CreateShaderModule(&wgpu.ShaderModuleDescriptor{
		Label: spec.label, WGSLDescriptor: &wgpu.ShaderModuleWGSLDescriptor{Code: spec.wgsl},
	})
	if err != nil {
		return err
	}
	defer module.Release()
	p.pipeline, err = b.device.CreateComputePipeline(&wgpu.ComputePipelineDescriptor{
		Label: spec.label, Layout: layout,
		Compute: wgpu.ProgrammableStageDescriptor{Module: module, EntryPoint: spec.entry},
	})
	return err
}

func layoutEntries(bindings []bindingKind) []wgpu.BindGroupLayoutEntry {
	types := map[bindingKind]wgpu.BufferBindingType{
		bindStorageRead: wgpu.BufferBindingTypeReadOnlyStorage, bindStorageReadWrite: wgpu.BufferBindingTypeStorage,
		bindUniform: wgpu.BufferBindingTypeUniform,
	}
	entries := make([]wgpu.BindGroupLayoutEntry, len(bindings))
	for i, kind := range bindings {
		entries[i] = wgpu.BindGroupLayoutEntry{
			Binding: uint32(i), Visibility: wgpu.ShaderStageCompute,
			Buffer: wgpu.BufferBindingLayout{Type: types[kind]},
		}
	}
	return entries
}

func (p *nativePipeline) release() {
	if p.pipeline != nil {
		p.pipeline.Release()
	}
	if p.layout != nil {
		p.layout.Release()
	}
}

func (b *nativeBackend) freePipeline(h pipelineHandle) { h.(*nativePipeline).release() }

func (b *nativeBackend) newBindGroup(h pipelineHandle, entries []groupEntry) (groupHandle, error) {
	desc := &wgpu.BindGroupDescriptor{Layout: h.(*nativePipeline).layout}
	for i, e := range entries {
		desc.Entries = append(desc.Entries, wgpu.BindGroupEntry{
			Binding: uint32(i), Buffer: e.buffer.(*wgpu.Buffer), Offset: uint64(e.offset), Size: uint64(e.size),
		})
	}
	var group *wgpu.BindGroup
	err := b.guarded("bind group", func() (err error) {
		group, err = b.device.CreateBindGroup(desc)
		return err
	})
	if err != nil {
		return nil, err
	}
	return group, nil
}

func (b *nativeBackend) freeBindGroup(h groupHandle) { h.(*wgpu.BindGroup).Release() }

// nativeReplay is the C array that gw_replay walks.
type nativeReplay struct {
	steps      *C.gw_step
	count      int
	dispatches int
}

func (r *nativeReplay) slice() []C.gw_step { return unsafe.Slice(r.steps, r.count) }

func (b *nativeBackend) newReplay(steps []step) (replayHandle, error) {
	r := &nativeReplay{count: len(steps)}
	r.steps = (*C.gw_step)(C.calloc(C.size_t(max(len(steps), 1)), C.size_t(unsafe.Sizeof(C.gw_step{}))))
	for i, out := 0, r.slice(); i < len(steps); i++ {
		if c := steps[i].copy; c != nil {
			out[i] = C.gw_step{
				kind: C.GW_COPY, src: refOf(c.src), dst: refOf(c.dst),
				srcOffset: C.uint64_t(c.srcOffset), dstOffset: C.uint64_t(c.dstOffset), size: C.uint64_t(c.size),
			}
			continue
		}
		r.dispatches++
		out[i] = C.gw_step{
			kind: C.GW_DISPATCH, pipeline: refOf(steps[i].pipeline.(*nativePipeline).pipeline), bindGroup: refOf(steps[i].group),
		}
	}
	return r, nil
}

func (b *nativeBackend) freeReplay(h replayHandle) { C.free(unsafe.Pointer(h.(*nativeReplay).steps)) }

func (r *nativeReplay) setGrids(grids []uint32) {
	steps, g := r.slice(), 0
	for i := range steps {
		if steps[i].kind == C.GW_DISPATCH {
			steps[i].x, steps[i].y, steps[i].z = C.uint32_t(grids[g]), C.uint32_t(grids[g+1]), C.uint32_t(grids[g+2])
			g += 3
		}
	}
}

func (b *nativeBackend) submit(h replayHandle, grids []uint32) (submission, error) {
	return b.replay(h.(*nativeReplay), grids, nil, nil)
}

func (b *nativeBackend) replay(r *nativeReplay, grids []uint32, querySet, queryOut unsafe.Pointer) (submission, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	r.setGrids(grids)
	var cerr C.gw_error
	index := C.gw_replay(b.cDevice, b.cQueue, r.steps, C.size_t(r.count), querySet, queryOut, &cerr)
	return submission(index), nativeError("submit", &cerr)
}

func (b *nativeBackend) submitTimed(h replayHandle, grids []uint32) ([]dispatchTime, error) {
	r := h.(*nativeReplay)
	if !b.features.Timestamps {
		return nil, fmt.Errorf("%w: this device has no timestamp queries", ErrLimit)
	}
	if 2*r.dispatches > maxQueries {
		return nil, fmt.Errorf("%w: %d dispatches are too many to time at once (%d)", ErrLimit, r.dispatches, maxQueries/2)
	}
	set, err := b.device.CreateQuerySet(&wgpu.QuerySetDescriptor{Label: "profile", Type: wgpu.QueryTypeTimestamp, Count: uint32(max(2*r.dispatches, 2))})
	if err != nil {
		return nil, wrapNative("timestamps", 0, err.Error())
	}
	defer set.Release()
	size := int64(max(16*r.dispatches, 16))
	out, err := b.createBuffer("profile", wgpu.BufferUsageQueryResolve|wgpu.BufferUsageCopySrc, size)
	if err != nil {
		return nil, err
	}
	defer b.freeBuffer(out)
	if _, err := b.replay(r, grids, refOf(set), refOf(out)); err != nil {
		return nil, err
	}
	return b.readTimes(r, out, size)
}

func (b *nativeBackend) readTimes(r *nativeReplay, out *wgpu.Buffer, size int64) ([]dispatchTime, error) {
	staging, err := b.newBuffer("profile staging", usageMapRead, size)
	if err != nil {
		return nil, err
	}
	defer b.freeBuffer(staging)
	read, err := b.startRead(out, 0, staging, size)
	if err != nil {
		return nil, err
	}
	ticks := make([]uint64, size/8)
	if err := b.finishRead(read, unsafe.Slice((*byte)(unsafe.Pointer(&ticks[0])), size)); err != nil {
		return nil, err
	}
	var times []dispatchTime
	for i, s := range r.slice() {
		if s.kind == C.GW_DISPATCH && s.x*s.y*s.z != 0 {
			k := 2 * len(times)
			times = append(times, dispatchTime{step: i, nanoseconds: float64(ticks[k+1] - ticks[k])})
		}
	}
	return times, nil
}

type nativeRead struct {
	staging bufferHandle
	size    int64
	state   *C.gw_map_state
}

func (b *nativeBackend) startRead(src bufferHandle, offset int64, staging bufferHandle, size int64) (readHandle, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	copyStep := C.gw_step{kind: C.GW_COPY, src: refOf(src), dst: refOf(staging), srcOffset: C.uint64_t(offset), size: C.uint64_t(size)}
	var cerr C.gw_error
	C.gw_replay(b.cDevice, b.cQueue, &copyStep, 1, nil, nil, &cerr)
	if err := nativeError("read", &cerr); err != nil {
		return nil, err
	}
	state := (*C.gw_map_state)(C.calloc(1, C.size_t(unsafe.Sizeof(C.gw_map_state{}))))
	C.gw_map_read(b.cDevice, refOf(staging), C.size_t(size), state, &cerr)
	if err := nativeError("read", &cerr); err != nil {
		C.free(unsafe.Pointer(state))
		return nil, err
	}
	return &nativeRead{staging: staging, size: size, state: state}, nil
}

func (b *nativeBackend) finishRead(h readHandle, dst []byte) error {
	r := h.(*nativeRead)
	defer C.free(unsafe.Pointer(r.state))
	C.gw_wait_mapped(b.cDevice, r.state)
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.state.status != 0 {
		return fmt.Errorf("%w: mapping for reading failed (status %d)", ErrDeviceLost, int(r.state.status))
	}
	if dst != nil {
		copy(dst, unsafe.Slice((*byte)(C.gw_mapped(refOf(r.staging), C.size_t(r.size))), r.size))
	}
	var cerr C.gw_error
	C.gw_unmap(b.cDevice, refOf(r.staging), &cerr)
	return nativeError("unmap", &cerr)
}

// wait waits for all submissions: the binding has no sound way to wait for one.
func (b *nativeBackend) wait(submission) error {
	C.gw_wait(b.cDevice)
	return nil
}

func (b *nativeBackend) close() {
	b.queue.Release()
	b.device.Release()
	b.adapter.Release()
	b.instance.Release()
}

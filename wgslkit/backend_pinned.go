//go:build !js

package wgslkit

// #include "native.h"
import "C"

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/cogentcore/webgpu/wgpu"
)

// pinnedBackend is the wgpu-native that is linked in, through its Go binding:
// set-up goes through the binding, the rest through the queue.
type pinnedBackend struct {
	nativeQueue
	instance  *wgpu.Instance
	adapter   *wgpu.Adapter
	wgpu      *wgpu.Device
	wgpuQueue *wgpu.Queue
	features  Features
	refused   string
}

// openPinned opens the adapter that opts asks for; refused says why a library was
// not used in its place.
func openPinned(opts Options, refused string) (backend, error) {
	wgpu.SetLogLevel(wgpu.LogLevelOff)
	// A descriptor would be passed on with fields that the binding leaves
	// uninitialised, so there is none; the backends are chosen below.
	instance := wgpu.CreateInstance(nil)
	adapters := instance.EnumerateAdapters(&wgpu.InstanceEnumerateAdapterOptons{Backends: wgpu.InstanceBackendPrimary})
	best, err := bestAdapter(adapters, adapterInfo, (*wgpu.Adapter).Release, opts)
	if err != nil {
		instance.Release()
		return nil, err
	}
	b := &pinnedBackend{instance: instance, adapter: best, refused: refused}
	b.api, b.maker = C.gw_pinned(), b
	if err := b.requestDevice(opts); err != nil {
		best.Release()
		instance.Release()
		return nil, err
	}
	return b, nil
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
	return Info{Name: cmp.Or(i.DriverDescription, i.Name), Vendor: i.VendorName, Driver: i.Architecture, Backend: backends[i.BackendType], Kind: kind, Library: libraryName(uint32(C.gw_pinned_version()), "built in")}
}

func (b *pinnedBackend) requestDevice(opts Options) error {
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
		b.features.Timestamps, b.period = true, 1
	}
	device, err := b.adapter.RequestDevice(desc)
	if err != nil {
		return fmt.Errorf("%w: %s refused a device: %v; update its driver, or run on the CPU", ErrNoDevice, adapterInfo(b.adapter).Name, err)
	}
	b.wgpu, b.wgpuQueue = device, device.GetQueue()
	b.device, b.queue = objectRef(device), objectRef(b.wgpuQueue)
	return nil
}

// objectRef is the C handle inside one of the binding's objects.
func objectRef(object any) unsafe.Pointer {
	return reflect.ValueOf(object).Elem().FieldByName("ref").UnsafePointer()
}

func (b *pinnedBackend) describe() (Info, Limits, Features) {
	l := b.wgpu.GetLimits().Limits
	info := adapterInfo(b.adapter)
	info.LibraryRefused = b.refused
	return info, Limits{
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

func (b *pinnedBackend) makeBuffer(label string, usage uint32, size int64) (*nativeHandle, error) {
	var buffer *wgpu.Buffer
	err := b.guarded(fmt.Sprintf("buffer %q of %d bytes", label, size), func() (err error) {
		buffer, err = b.wgpu.CreateBuffer(&wgpu.BufferDescriptor{Label: label, Usage: wgpu.BufferUsage(usage), Size: uint64(size)})
		return err
	})
	if err != nil {
		return nil, err
	}
	return &nativeHandle{ref: objectRef(buffer), object: buffer, free: func() {
		buffer.Destroy()
		buffer.Release()
	}}, nil
}

func (b *pinnedBackend) makeQueries(count int) (*nativeHandle, error) {
	set, err := b.wgpu.CreateQuerySet(&wgpu.QuerySetDescriptor{Label: "profile", Type: wgpu.QueryTypeTimestamp, Count: uint32(count)})
	if err != nil {
		return nil, wrapNative("timestamps", 0, err.Error())
	}
	return &nativeHandle{ref: objectRef(set), free: set.Release}, nil
}

// pinnedPipeline is being made.
type pinnedPipeline struct {
	pipeline *wgpu.ComputePipeline
	layout   *wgpu.BindGroupLayout
}

func (b *pinnedBackend) newPipeline(spec pipelineSpec) (pipelineHandle, error) {
	p := &pinnedPipeline{}
	err := b.guarded("kernel "+spec.label, func() error { return b.buildPipeline(p, spec) })
	if err != nil {
		p.release()
		if errors.Is(err, ErrValidation) {
			err = fmt.Errorf("%w: %w", ErrShader, err)
		}
		return nil, err
	}
	return &nativeHandle{ref: objectRef(p.pipeline), object: p.layout, free: p.release}, nil
}

func (b *pinnedBackend) buildPipeline(p *pinnedPipeline, spec pipelineSpec) (err error) {
	p.layout, err = b.wgpu.CreateBindGroupLayout(&wgpu.BindGroupLayoutDescriptor{
		Label: spec.label, Entries: layoutEntries(spec.bindings),
	})
	if err != nil {
		return err
	}
	layout, err := b.wgpu.CreatePipelineLayout(&wgpu.PipelineLayoutDescriptor{
		Label: spec.label, BindGroupLayouts: []*wgpu.BindGroupLayout{p.layout},
	})
	if err != nil {
		return err
	}
	defer layout.Release()
	module, err := b.wgpu.CreateShaderModule(&wgpu.ShaderModuleDescriptor{
		Label: spec.label, WGSLDescriptor: &wgpu.ShaderModuleWGSLDescriptor{Code: spec.wgsl},
	})
	if err != nil {
		return err
	}
	defer module.Release()
	p.pipeline, err = b.wgpu.CreateComputePipeline(&wgpu.ComputePipelineDescriptor{
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

func (p *pinnedPipeline) release() {
	if p.pipeline != nil {
		p.pipeline.Release()
	}
	if p.layout != nil {
		p.layout.Release()
	}
}

func (b *pinnedBackend) newBindGroup(h pipelineHandle, entries []groupEntry) (groupHandle, error) {
	desc := &wgpu.BindGroupDescriptor{Layout: h.(*nativeHandle).object.(*wgpu.BindGroupLayout)}
	for i, e := range entries {
		desc.Entries = append(desc.Entries, wgpu.BindGroupEntry{
			Binding: uint32(i), Buffer: e.buffer.(*nativeHandle).object.(*wgpu.Buffer), Offset: uint64(e.offset), Size: uint64(e.size),
		})
	}
	var group *wgpu.BindGroup
	err := b.guarded("bind group", func() (err error) {
		group, err = b.wgpu.CreateBindGroup(desc)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &nativeHandle{ref: objectRef(group), free: group.Release}, nil
}

func (b *pinnedBackend) close() {
	b.flush()
	b.wgpuQueue.Release()
	b.wgpu.Release()
	b.adapter.Release()
	b.instance.Release()
}

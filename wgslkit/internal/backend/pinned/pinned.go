//go:build !js

package pinned

// #include "../native/native.h"
import "C"

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/cogentcore/webgpu/wgpu"

	"github.com/gemwire/gemwire/wgslkit/adapter"
	"github.com/gemwire/gemwire/wgslkit/internal/backend"
	"github.com/gemwire/gemwire/wgslkit/internal/backend/native"
)

// driver is the wgpu-native that is linked in, through its Go binding:
// set-up goes through the binding, the rest through the queue.
type driver struct {
	native.Queue
	instance  *wgpu.Instance
	adapter   *wgpu.Adapter
	wgpu      *wgpu.Device
	wgpuQueue *wgpu.Queue
	features  adapter.Features
	refused   string
}

// Open opens the adapter that opts asks for; refused says why a library was
// not used in its place.
func Open(opts backend.Options, refused string) (backend.Backend, error) {
	wgpu.SetLogLevel(wgpu.LogLevelOff)
	// A descriptor would be passed on with fields that the binding leaves
	// uninitialised, so there is none; the backends are chosen below.
	instance := wgpu.CreateInstance(nil)
	adapters := instance.EnumerateAdapters(&wgpu.InstanceEnumerateAdapterOptons{Backends: wgpu.InstanceBackendPrimary})
	best, err := native.BestAdapter(adapters, adapterInfo, (*wgpu.Adapter).Release, opts)
	if err != nil {
		instance.Release()
		return nil, err
	}
	b := &driver{instance: instance, adapter: best, refused: refused}
	b.API, b.Maker = unsafe.Pointer(C.gw_pinned()), b
	if err := b.requestDevice(opts); err != nil {
		best.Release()
		instance.Release()
		return nil, err
	}
	return b, nil
}

func adapterInfo(a *wgpu.Adapter) adapter.Info {
	i := a.GetInfo()
	kinds := map[wgpu.AdapterType]adapter.Kind{
		wgpu.AdapterTypeDiscreteGPU: adapter.DiscreteGPU, wgpu.AdapterTypeIntegratedGPU: adapter.IntegratedGPU,
		wgpu.AdapterTypeCPU: adapter.CPU,
	}
	kind, ok := kinds[i.AdapterType]
	if !ok {
		kind = adapter.UnknownKind
	}
	backends := map[wgpu.BackendType]string{
		wgpu.BackendTypeVulkan: "Vulkan", wgpu.BackendTypeMetal: "Metal", wgpu.BackendTypeD3D12: "D3D12",
		wgpu.BackendTypeOpenGL: "OpenGL", wgpu.BackendTypeOpenGLES: "OpenGLES",
	}
	// This version of wgpu puts the adapter's name into the description.
	return adapter.Info{Name: cmp.Or(i.DriverDescription, i.Name), Vendor: i.VendorName, Driver: i.Architecture,
		Backend: backends[i.BackendType], Kind: kind,
		Library: native.LibraryName(uint32(C.gw_pinned_version()), "built in")}
}

func (b *driver) requestDevice(opts backend.Options) error {
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
		b.features.Timestamps, b.Period = true, 1
	}
	device, err := b.adapter.RequestDevice(desc)
	if err != nil {
		return fmt.Errorf("%w: %s refused a device: %v; update its driver, or run on the CPU", backend.ErrNoDevice,
			adapterInfo(b.adapter).Name, err)
	}
	b.wgpu, b.wgpuQueue = device, device.GetQueue()
	b.Device, b.Ref = objectRef(device), objectRef(b.wgpuQueue)
	return nil
}

// objectRef is the C handle inside one of the binding's objects.
func objectRef(object any) unsafe.Pointer {
	return reflect.ValueOf(object).Elem().FieldByName("ref").UnsafePointer()
}

func (b *driver) Describe() (adapter.Info, adapter.Limits, adapter.Features) {
	l := b.wgpu.GetLimits().Limits
	info := adapterInfo(b.adapter)
	info.LibraryRefused = b.refused
	return info, adapter.Limits{
		MaxBufferSize:             native.ClampInt64(l.MaxBufferSize),
		MaxStorageBindingSize:     native.ClampInt64(l.MaxStorageBufferBindingSize),
		MaxUniformBindingSize:     native.ClampInt64(l.MaxUniformBufferBindingSize),
		MaxStorageBuffers:         l.MaxStorageBuffersPerShaderStage,
		MinStorageAlignment:       l.MinStorageBufferOffsetAlignment,
		MinUniformAlignment:       l.MinUniformBufferOffsetAlignment,
		MaxWorkgroupStorage:       l.MaxComputeWorkgroupStorageSize,
		MaxWorkgroupInvocations:   l.MaxComputeInvocationsPerWorkgroup,
		MaxWorkgroupSizeX:         l.MaxComputeWorkgroupSizeX,
		MaxWorkgroupsPerDimension: l.MaxComputeWorkgroupsPerDimension,
	}, b.features
}

func (b *driver) MakeBuffer(label string, usage uint32, size int64) (*native.Handle, error) {
	var buffer *wgpu.Buffer
	err := b.Guarded(fmt.Sprintf("buffer %q of %d bytes", label, size), func() (err error) {
		buffer, err = b.wgpu.CreateBuffer(&wgpu.BufferDescriptor{Label: label, Usage: wgpu.BufferUsage(usage),
			Size: uint64(size)})
		return err
	})
	if err != nil {
		return nil, err
	}
	return &native.Handle{Ref: objectRef(buffer), Object: buffer, Free: func() {
		buffer.Destroy()
		buffer.Release()
	}}, nil
}

func (b *driver) MakeQueries(count int) (*native.Handle, error) {
	set, err := b.wgpu.CreateQuerySet(&wgpu.QuerySetDescriptor{Label: "profile", Type: wgpu.QueryTypeTimestamp,
		Count: uint32(count)})
	if err != nil {
		return nil, native.Wrap("timestamps", 0, err.Error())
	}
	return &native.Handle{Ref: objectRef(set), Free: set.Release}, nil
}

// pipeline is being made.
type pipeline struct {
	pipeline *wgpu.ComputePipeline
	layout   *wgpu.BindGroupLayout
}

func (b *driver) NewPipeline(spec backend.PipelineSpec) (backend.Pipeline, error) {
	p := &pipeline{}
	err := b.Guarded("kernel "+spec.Label, func() error { return b.buildPipeline(p, spec) })
	if err != nil {
		p.release()
		if errors.Is(err, backend.ErrValidation) {
			err = fmt.Errorf("%w: %w", backend.ErrShader, err)
		}
		return nil, err
	}
	return &native.Handle{Ref: objectRef(p.pipeline), Object: p.layout, Free: p.release}, nil
}

func (b *driver) buildPipeline(p *pipeline, spec backend.PipelineSpec) (err error) {
	p.layout, err = b.wgpu.CreateBindGroupLayout(&wgpu.BindGroupLayoutDescriptor{
		Label: spec.Label, Entries: layoutEntries(spec.Bindings),
	})
	if err != nil {
		return err
	}
	layout, err := b.wgpu.CreatePipelineLayout(&wgpu.PipelineLayoutDescriptor{
		Label: spec.Label, BindGroupLayouts: []*wgpu.BindGroupLayout{p.layout},
	})
	if err != nil {
		return err
	}
	defer layout.Release()
	module, err := b.wgpu.CreateShaderModule(&wgpu.ShaderModuleDescriptor{
		Label: spec.Label, WGSLDescriptor: &wgpu.ShaderModuleWGSLDescriptor{Code: spec.WGSL},
	})
	if err != nil {
		return err
	}
	defer module.Release()
	p.pipeline, err = b.wgpu.CreateComputePipeline(&wgpu.ComputePipelineDescriptor{
		Label: spec.Label, Layout: layout,
		Compute: wgpu.ProgrammableStageDescriptor{Module: module, EntryPoint: spec.Entry},
	})
	return err
}

func layoutEntries(bindings []backend.BindingKind) []wgpu.BindGroupLayoutEntry {
	types := map[backend.BindingKind]wgpu.BufferBindingType{
		backend.BindStorageRead:      wgpu.BufferBindingTypeReadOnlyStorage,
		backend.BindStorageReadWrite: wgpu.BufferBindingTypeStorage,
		backend.BindUniform:          wgpu.BufferBindingTypeUniform,
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

func (p *pipeline) release() {
	if p.pipeline != nil {
		p.pipeline.Release()
	}
	if p.layout != nil {
		p.layout.Release()
	}
}

func (b *driver) NewBindGroup(h backend.Pipeline, entries []backend.GroupEntry) (backend.Group, error) {
	desc := &wgpu.BindGroupDescriptor{Layout: h.(*native.Handle).Object.(*wgpu.BindGroupLayout)}
	for i, e := range entries {
		desc.Entries = append(desc.Entries, wgpu.BindGroupEntry{
			Binding: uint32(i), Buffer: e.Buffer.(*native.Handle).Object.(*wgpu.Buffer), Offset: uint64(e.Offset),
			Size: uint64(e.Size),
		})
	}
	var group *wgpu.BindGroup
	err := b.Guarded("bind group", func() (err error) {
		group, err = b.wgpu.CreateBindGroup(desc)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &native.Handle{Ref: objectRef(group), Free: group.Release}, nil
}

func (b *driver) Close() {
	b.Flush()
	b.wgpuQueue.Release()
	b.wgpu.Release()
	b.adapter.Release()
	b.instance.Release()
}

//go:build darwin || freebsd || linux

package loaded

// #include <stdlib.h>
// #include "loaded.h"
import "C"

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"github.com/gemwire/gemwire/wgslkit/adapter"
	"github.com/gemwire/gemwire/wgslkit/internal/backend"
	"github.com/gemwire/gemwire/wgslkit/internal/backend/native"
)

// driver is a wgpu-native or a Dawn that was loaded at run time. They have
// what the pinned one lacks: subgroups, f16, packed dot products, and Dawn subgroup
// matrices.
type driver struct {
	native.Queue
	name     string // of the library
	instance unsafe.Pointer
	adapter  unsafe.Pointer
	info     adapter.Info
	features adapter.Features
}

// Open opens the adapter that opts asks for with the library at path. The
// error says why it is not used.
func Open(path string, opts backend.Options) (backend.Backend, error) {
	name, err := loadLibrary(path)
	if err != nil {
		return nil, err
	}
	b := &driver{name: name, instance: C.gw_open_instance()}
	b.Maker = b
	if b.instance == nil {
		return nil, errors.New("it makes no instance")
	}
	if err := b.open(opts); err != nil {
		b.Close()
		return nil, err
	}
	return b, nil
}

func (b *driver) open(opts backend.Options) (err error) {
	adapters := make([]unsafe.Pointer, 64)
	adapters = adapters[:C.gw_adapters(b.instance, &adapters[0], C.size_t(len(adapters)))]
	release := func(a unsafe.Pointer) { C.gw_release_adapter(a) }
	if b.adapter, err = native.BestAdapter(adapters, b.describeAdapter, release, opts); err != nil {
		return err
	}
	b.info = b.describeAdapter(b.adapter)
	return b.openDevice(opts)
}

func (b *driver) describeAdapter(a unsafe.Pointer) adapter.Info {
	var about C.gw_about
	C.gw_describe(a, &about)
	kinds := map[C.uint32_t]adapter.Kind{C.GW_ADAPTER_DISCRETE: adapter.DiscreteGPU,
		C.GW_ADAPTER_INTEGRATED: adapter.IntegratedGPU, C.GW_ADAPTER_CPU: adapter.CPU}
	kind, ok := kinds[about.kind]
	if !ok {
		kind = adapter.UnknownKind
	}
	backends := map[C.uint32_t]string{
		C.GW_BACKEND_VULKAN: "Vulkan", C.GW_BACKEND_METAL: "Metal", C.GW_BACKEND_D3D12: "D3D12",
		C.GW_BACKEND_GL: "OpenGL", C.GW_BACKEND_GLES: "OpenGLES",
	}
	info := adapter.Info{
		Name: C.GoString(&about.name[0]), Vendor: C.GoString(&about.vendor[0]), Driver: C.GoString(&about.driver[0]),
		Backend: backends[about.backend], Kind: kind, Library: b.name, SubgroupMin: int(about.subgroupMin),
		SubgroupMax: int(about.subgroupMax),
		Unzeroed:    true, // both libraries are asked to leave workgroup memory as it is
	}
	for _, m := range about.matrix[:about.matrices] {
		info.SubgroupMatrices = append(info.SubgroupMatrices, adapter.SubgroupMatrix{
			Component: matrixTypes[m.component], Result: matrixTypes[m.result], M: int(m.m), N: int(m.n), K: int(m.k),
		})
	}
	return info
}

var matrixTypes = map[C.uint32_t]adapter.MatrixType{
	C.GW_MATRIX_F32: adapter.MatrixF32, C.GW_MATRIX_F16: adapter.MatrixF16, C.GW_MATRIX_U32: adapter.MatrixU32,
	C.GW_MATRIX_I32: adapter.MatrixI32,
	C.GW_MATRIX_U8:  adapter.MatrixU8, C.GW_MATRIX_I8: adapter.MatrixI8,
}

func (b *driver) openDevice(opts backend.Options) error {
	var granted C.uint32_t
	var cerr C.gw_error
	least := C.int(0)
	if opts.MinimumLimits {
		least = 1
	}
	b.Device = C.gw_open_device(b.adapter, least, &granted, &cerr)
	if b.Device == nil {
		return fmt.Errorf("%s refused a device: %w", b.info.Name, native.Error("device", unsafe.Pointer(&cerr)))
	}
	b.Ref = C.gw_get_queue(b.Device)
	b.features = adapter.Features{
		Timestamps: granted&C.GW_CAN_TIMESTAMPS != 0, Subgroups: granted&C.GW_CAN_SUBGROUPS != 0,
		ShaderF16: granted&C.GW_CAN_F16 != 0, SubgroupMatrix: granted&C.GW_CAN_MATRICES != 0 &&
			len(b.info.SubgroupMatrices) > 0,
		PackedDot: true, // part of their WGSL, emulated where the device has none
	}
	if b.features.Timestamps {
		b.Period = float64(C.gw_timestamp_period(b.Ref))
	}
	b.API = unsafe.Pointer(C.gw_loaded())
	return nil
}

func (b *driver) Describe() (adapter.Info, adapter.Limits, adapter.Features) {
	var l C.gw_limits
	if C.gw_get_limits(b.Device, &l) == 0 {
		return b.info, adapter.Limits{}, b.features
	}
	return b.info, adapter.Limits{
		MaxBufferSize:             native.ClampInt64(uint64(l.bufferSize)),
		MaxStorageBindingSize:     native.ClampInt64(uint64(l.storageBindingSize)),
		MaxUniformBindingSize:     native.ClampInt64(uint64(l.uniformBindingSize)),
		MaxStorageBuffers:         uint32(l.storageBuffers),
		MinStorageAlignment:       uint32(l.storageAlignment),
		MinUniformAlignment:       uint32(l.uniformAlignment),
		MaxWorkgroupStorage:       uint32(l.workgroupStorage),
		MaxWorkgroupInvocations:   uint32(l.workgroupInvocations),
		MaxWorkgroupSizeX:         uint32(l.workgroupX),
		MaxWorkgroupsPerDimension: uint32(l.workgroupsPerDimension),
	}, b.features
}

// made is guarded for a call that makes something: nothing made is an error too.
func (b *driver) made(what string, call func() unsafe.Pointer) (ref unsafe.Pointer, err error) {
	err = b.Guarded(what, func() error {
		if ref = call(); ref == nil {
			return errors.New("the library made nothing")
		}
		return nil
	})
	return ref, err
}

func (b *driver) MakeBuffer(label string, usage uint32, size int64) (*native.Handle, error) {
	name := C.CString(label)
	defer C.free(unsafe.Pointer(name))
	ref, err := b.made(fmt.Sprintf("buffer %q of %d bytes", label, size), func() unsafe.Pointer {
		return C.gw_new_buffer(b.Device, name, C.uint64_t(usage), C.uint64_t(size))
	})
	return b.handle(ref, err, func() { C.gw_release_buffer(ref) })
}

func (b *driver) MakeQueries(count int) (*native.Handle, error) {
	ref, err := b.made("timestamps", func() unsafe.Pointer { return C.gw_new_queries(b.Device, C.uint32_t(count)) })
	return b.handle(ref, err, func() { C.gw_release_queries(ref) })
}

// handle is what was made; what an error came with is freed.
func (b *driver) handle(ref unsafe.Pointer, err error, free func()) (*native.Handle, error) {
	if err != nil {
		if ref != nil {
			free()
		}
		return nil, err
	}
	return &native.Handle{Ref: ref, Free: free}, nil
}

func (b *driver) NewPipeline(spec backend.PipelineSpec) (backend.Pipeline, error) {
	if len(spec.Bindings) > C.GW_MOST_BINDINGS {
		return nil, fmt.Errorf("%w: kernel %s has %d bindings", backend.ErrLimit, spec.Label, len(spec.Bindings))
	}
	source := strings.Replace(spec.WGSL, C.GoString(C.gw_strange()), "", 1)
	label, wgsl, entry := C.CString(spec.Label), C.CString(source), C.CString(spec.Entry)
	defer C.free(unsafe.Pointer(label))
	defer C.free(unsafe.Pointer(wgsl))
	defer C.free(unsafe.Pointer(entry))
	types := map[backend.BindingKind]C.uint32_t{
		backend.BindStorageRead: C.GW_BIND_READ_ONLY, backend.BindStorageReadWrite: C.GW_BIND_STORAGE,
		backend.BindUniform: C.GW_BIND_UNIFORM,
	}
	kinds := make([]C.uint32_t, len(spec.Bindings)+1) // never empty
	for i, kind := range spec.Bindings {
		kinds[i] = types[kind]
	}
	var layout unsafe.Pointer
	ref, err := b.made("kernel "+spec.Label, func() unsafe.Pointer {
		return C.gw_new_pipeline(b.Device, label, wgsl, C.size_t(len(source)), entry, &kinds[0],
			C.size_t(len(spec.Bindings)), &layout)
	})
	free := func() { C.gw_release_pipeline(ref, layout) }
	if err != nil {
		free()
		if errors.Is(err, backend.ErrValidation) {
			err = fmt.Errorf("%w: %w", backend.ErrShader, err)
		}
		return nil, err
	}
	return &native.Handle{Ref: ref, Object: layout, Free: free}, nil
}

func (b *driver) NewBindGroup(h backend.Pipeline, entries []backend.GroupEntry) (backend.Group, error) {
	list := make([]C.gw_group_entry, len(entries)+1) // never empty
	for i, e := range entries {
		list[i] = C.gw_group_entry{binding: C.uint32_t(i), buffer: native.RefOf(e.Buffer), offset: C.uint64_t(e.Offset),
			size: C.uint64_t(e.Size)}
	}
	ref, err := b.made("bind group", func() unsafe.Pointer {
		return C.gw_new_group(b.Device, h.(*native.Handle).Object.(unsafe.Pointer), &list[0], C.size_t(len(entries)))
	})
	group, err := b.handle(ref, err, func() { C.gw_release_group(ref) })
	if err != nil {
		return nil, err // not a nil handle in an interface
	}
	return group, nil
}

func (b *driver) Close() {
	if b.Device != nil {
		b.Flush()
		C.gw_release_device(b.Device, b.Ref)
	}
	if b.adapter != nil {
		C.gw_release_adapter(b.adapter)
	}
	C.gw_release_instance(b.instance)
}

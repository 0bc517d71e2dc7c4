//go:build darwin || freebsd || linux

package wgslkit

// #include <stdlib.h>
// #include "loaded.h"
import "C"

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"
)

// loadedBackend is a wgpu-native or a Dawn that was loaded at run time. They have
// what the pinned one lacks: subgroups, f16, packed dot products, and Dawn subgroup
// matrices.
type loadedBackend struct {
	nativeQueue
	name     string // of the library
	instance unsafe.Pointer
	adapter  unsafe.Pointer
	info     Info
	features Features
}

// openLoaded opens the adapter that opts asks for with the library at path. The
// error says why it is not used.
func openLoaded(path string, opts Options) (backend, error) {
	name, err := loadLibrary(path)
	if err != nil {
		return nil, err
	}
	b := &loadedBackend{name: name, instance: C.gw_open_instance()}
	b.maker = b
	if b.instance == nil {
		return nil, errors.New("it makes no instance")
	}
	if err := b.open(opts); err != nil {
		b.close()
		return nil, err
	}
	return b, nil
}

func (b *loadedBackend) open(opts Options) (err error) {
	adapters := make([]unsafe.Pointer, 64)
	adapters = adapters[:C.gw_adapters(b.instance, &adapters[0], C.size_t(len(adapters)))]
	release := func(a unsafe.Pointer) { C.gw_release_adapter(a) }
	if b.adapter, err = bestAdapter(adapters, b.describeAdapter, release, opts); err != nil {
		return err
	}
	b.info = b.describeAdapter(b.adapter)
	return b.openDevice(opts)
}

func (b *loadedBackend) describeAdapter(adapter unsafe.Pointer) Info {
	var about C.gw_about
	C.gw_describe(adapter, &about)
	kinds := map[C.uint32_t]Kind{C.GW_ADAPTER_DISCRETE: DiscreteGPU, C.GW_ADAPTER_INTEGRATED: IntegratedGPU, C.GW_ADAPTER_CPU: CPU}
	kind, ok := kinds[about.kind]
	if !ok {
		kind = UnknownKind
	}
	backends := map[C.uint32_t]string{
		C.GW_BACKEND_VULKAN: "Vulkan", C.GW_BACKEND_METAL: "Metal", C.GW_BACKEND_D3D12: "D3D12",
		C.GW_BACKEND_GL: "OpenGL", C.GW_BACKEND_GLES: "OpenGLES",
	}
	info := Info{
		Name: C.GoString(&about.name[0]), Vendor: C.GoString(&about.vendor[0]), Driver: C.GoString(&about.driver[0]),
		Backend: backends[about.backend], Kind: kind, Library: b.name, SubgroupMin: int(about.subgroupMin), SubgroupMax: int(about.subgroupMax),
		Unzeroed: true, // both libraries are asked to leave workgroup memory as it is
	}
	for _, m := range about.matrix[:about.matrices] {
		info.SubgroupMatrices = append(info.SubgroupMatrices, SubgroupMatrix{
			Component: matrixTypes[m.component], Result: matrixTypes[m.result], M: int(m.m), N: int(m.n), K: int(m.k),
		})
	}
	return info
}

var matrixTypes = map[C.uint32_t]MatrixType{
	C.GW_MATRIX_F32: MatrixF32, C.GW_MATRIX_F16: MatrixF16, C.GW_MATRIX_U32: MatrixU32, C.GW_MATRIX_I32: MatrixI32,
	C.GW_MATRIX_U8: MatrixU8, C.GW_MATRIX_I8: MatrixI8,
}

func (b *loadedBackend) openDevice(opts Options) error {
	var granted C.uint32_t
	var cerr C.gw_error
	least := C.int(0)
	if opts.MinimumLimits {
		least = 1
	}
	b.device = C.gw_open_device(b.adapter, least, &granted, &cerr)
	if b.device == nil {
		return fmt.Errorf("%s refused a device: %w", b.info.Name, nativeError("device", &cerr))
	}
	b.queue = C.gw_get_queue(b.device)
	b.features = Features{
		Timestamps: granted&C.GW_CAN_TIMESTAMPS != 0, Subgroups: granted&C.GW_CAN_SUBGROUPS != 0,
		ShaderF16: granted&C.GW_CAN_F16 != 0, SubgroupMatrix: granted&C.GW_CAN_MATRICES != 0 && len(b.info.SubgroupMatrices) > 0,
		PackedDot: true, // part of their WGSL, emulated where the device has none
	}
	if b.features.Timestamps {
		b.period = float64(C.gw_timestamp_period(b.queue))
	}
	b.api = C.gw_loaded()
	return nil
}

func (b *loadedBackend) describe() (Info, Limits, Features) {
	var l C.gw_limits
	if C.gw_get_limits(b.device, &l) == 0 {
		return b.info, Limits{}, b.features
	}
	return b.info, Limits{
		MaxBufferSize:             clampInt64(uint64(l.bufferSize)),
		MaxStorageBindingSize:     clampInt64(uint64(l.storageBindingSize)),
		MaxUniformBindingSize:     clampInt64(uint64(l.uniformBindingSize)),
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
func (b *loadedBackend) made(what string, call func() unsafe.Pointer) (ref unsafe.Pointer, err error) {
	err = b.guarded(what, func() error {
		if ref = call(); ref == nil {
			return errors.New("the library made nothing")
		}
		return nil
	})
	return ref, err
}

func (b *loadedBackend) makeBuffer(label string, usage uint32, size int64) (*nativeHandle, error) {
	name := C.CString(label)
	defer C.free(unsafe.Pointer(name))
	ref, err := b.made(fmt.Sprintf("buffer %q of %d bytes", label, size), func() unsafe.Pointer {
		return C.gw_new_buffer(b.device, name, C.uint64_t(usage), C.uint64_t(size))
	})
	return b.handle(ref, err, func() { C.gw_release_buffer(ref) })
}

func (b *loadedBackend) makeQueries(count int) (*nativeHandle, error) {
	ref, err := b.made("timestamps", func() unsafe.Pointer { return C.gw_new_queries(b.device, C.uint32_t(count)) })
	return b.handle(ref, err, func() { C.gw_release_queries(ref) })
}

// handle is what was made; what an error came with is freed.
func (b *loadedBackend) handle(ref unsafe.Pointer, err error, free func()) (*nativeHandle, error) {
	if err != nil {
		if ref != nil {
			free()
		}
		return nil, err
	}
	return &nativeHandle{ref: ref, free: free}, nil
}

func (b *loadedBackend) newPipeline(spec pipelineSpec) (pipelineHandle, error) {
	if len(spec.bindings) > C.GW_MOST_BINDINGS {
		return nil, fmt.Errorf("%w: kernel %s has %d bindings", ErrLimit, spec.label, len(spec.bindings))
	}
	source := strings.Replace(spec.wgsl, C.GoString(C.gw_strange()), "", 1)
	label, wgsl, entry := C.CString(spec.label), C.CString(source), C.CString(spec.entry)
	defer C.free(unsafe.Pointer(label))
	defer C.free(unsafe.Pointer(wgsl))
	defer C.free(unsafe.Pointer(entry))
	types := map[bindingKind]C.uint32_t{
		bindStorageRead: C.GW_BIND_READ_ONLY, bindStorageReadWrite: C.GW_BIND_STORAGE, bindUniform: C.GW_BIND_UNIFORM,
	}
	kinds := make([]C.uint32_t, len(spec.bindings)+1) // never empty
	for i, kind := range spec.bindings {
		kinds[i] = types[kind]
	}
	var layout unsafe.Pointer
	ref, err := b.made("kernel "+spec.label, func() unsafe.Pointer {
		return C.gw_new_pipeline(b.device, label, wgsl, C.size_t(len(source)), entry, &kinds[0], C.size_t(len(spec.bindings)), &layout)
	})
	free := func() { C.gw_release_pipeline(ref, layout) }
	if err != nil {
		free()
		if errors.Is(err, ErrValidation) {
			err = fmt.Errorf("%w: %w", ErrShader, err)
		}
		return nil, err
	}
	return &nativeHandle{ref: ref, object: layout, free: free}, nil
}

func (b *loadedBackend) newBindGroup(h pipelineHandle, entries []groupEntry) (groupHandle, error) {
	list := make([]C.gw_group_entry, len(entries)+1) // never empty
	for i, e := range entries {
		list[i] = C.gw_group_entry{binding: C.uint32_t(i), buffer: refOf(e.buffer), offset: C.uint64_t(e.offset), size: C.uint64_t(e.size)}
	}
	ref, err := b.made("bind group", func() unsafe.Pointer {
		return C.gw_new_group(b.device, h.(*nativeHandle).object.(unsafe.Pointer), &list[0], C.size_t(len(entries)))
	})
	group, err := b.handle(ref, err, func() { C.gw_release_group(ref) })
	if err != nil {
		return nil, err // not a nil handle in an interface
	}
	return group, nil
}

func (b *loadedBackend) close() {
	if b.device != nil {
		b.flush()
		C.gw_release_device(b.device, b.queue)
	}
	if b.adapter != nil {
		C.gw_release_adapter(b.adapter)
	}
	C.gw_release_instance(b.instance)
}

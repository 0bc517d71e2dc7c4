//go:build (darwin || linux || windows) && (amd64 || arm64)

package nocgo

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"github.com/gemwire/gemwire/wgslkit/internal/backend"
	"github.com/gemwire/gemwire/wgslkit/internal/backend/native"
)

// object is one of the library's: a buffer, a bind group, a pipeline with the layout of its group, a set of queries.
type object struct {
	ref, layout uintptr
	free        func()
}

func refOf(handle any) uintptr { return handle.(*object).ref }

func (b *driver) FreeBuffer(h backend.Buffer)     { h.(*object).free() }
func (b *driver) FreeBindGroup(h backend.Group)   { h.(*object).free() }
func (b *driver) FreePipeline(h backend.Pipeline) { h.(*object).free() }

// made is what call made, guarded: nothing made is an error too. What an error came with is freed.
func (b *driver) made(what string, call func() uintptr, free func(ref uintptr)) (*object, error) {
	var ref uintptr
	err := b.guarded(what, func() error {
		if ref = call(); ref == 0 {
			return errors.New("the library made nothing")
		}
		return nil
	})
	if err == nil {
		return &object{ref: ref, free: func() { free(ref) }}, nil
	}
	if ref != 0 {
		free(ref)
	}
	return nil, err
}

func (b *driver) NewBuffer(label string, u backend.Usage, size int64) (backend.Buffer, error) {
	o, err := b.newBuffer(label, native.BufferUsage(u), size)
	if err != nil {
		return nil, err // not a nil object in an interface
	}
	return o, nil
}

func (b *driver) newBuffer(label string, usage uint32, size int64) (*object, error) {
	desc := &bufferDesc{label: textOf(label), usage: uint64(usage), size: uint64(size)}
	return b.made(fmt.Sprintf("buffer %q of %d bytes", label, size), func() uintptr {
		return b.lib.DeviceCreateBuffer.call(b.device, uintptr(unsafe.Pointer(desc)))
	}, func(ref uintptr) {
		b.lib.BufferDestroy.call(ref)
		b.lib.BufferRelease.call(ref)
	})
}

func (b *driver) newQueries(count int) (*object, error) {
	desc := &queryDesc{kind: queryTimestamp, count: uint32(count)}
	return b.made("timestamps", func() uintptr {
		return b.lib.DeviceCreateQuerySet.call(b.device, uintptr(unsafe.Pointer(desc)))
	}, func(ref uintptr) { b.lib.QuerySetRelease.call(ref) })
}

func (b *driver) Write(h backend.Buffer, offset int64, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	return b.guarded("write", func() error {
		b.lib.QueueWriteBuffer.call(b.queue, refOf(h), uintptr(offset), uintptr(unsafe.Pointer(&data[0])),
			uintptr(len(data)))
		return nil
	})
}

// mostBindings is more than WebGPU allows in a group.
const mostBindings = 32

func (b *driver) NewPipeline(spec backend.PipelineSpec) (backend.Pipeline, error) {
	if len(spec.Bindings) > mostBindings {
		return nil, fmt.Errorf("%w: kernel %s has %d bindings", backend.ErrLimit, spec.Label, len(spec.Bindings))
	}
	var layout uintptr
	releaseLayout := func() {
		if layout != 0 {
			b.lib.BindGroupLayoutRelease.call(layout)
		}
	}
	made, err := b.made("kernel "+spec.Label, func() uintptr {
		if layout = b.newLayout(spec.Bindings); layout == 0 {
			return 0
		}
		return b.newPipeline(spec, layout)
	}, func(ref uintptr) { b.lib.ComputePipelineRelease.call(ref) })
	if err != nil {
		releaseLayout()
		if errors.Is(err, backend.ErrValidation) {
			err = fmt.Errorf("%w: %w", backend.ErrShader, err)
		}
		return nil, err
	}
	release := made.free
	return &object{ref: made.ref, layout: layout, free: func() {
		release()
		releaseLayout()
	}}, nil
}

func (b *driver) newLayout(bindings []backend.BindingKind) uintptr {
	types := map[backend.BindingKind]uint32{
		backend.BindStorageRead: bindReadOnly, backend.BindStorageReadWrite: bindStorage, backend.BindUniform: bindUniform,
	}
	entries := make([]layoutEntry, len(bindings))
	for i, kind := range bindings {
		entries[i] = layoutEntry{binding: uint32(i), visibility: stageCompute, buffer: bufferLayout{kind: types[kind]}}
	}
	desc := &layoutDesc{count: uint(len(entries)), entries: unsafe.Pointer(unsafe.SliceData(entries))}
	return b.lib.DeviceCreateBindGroupLayout.call(b.device, uintptr(unsafe.Pointer(desc)))
}

func (b *driver) newPipeline(spec backend.PipelineSpec, layout uintptr) uintptr {
	label := textOf(spec.Label)
	layouts := &pipelineLayoutDesc{label: label, count: 1, layouts: unsafe.Pointer(&layout)}
	whole := b.lib.DeviceCreatePipelineLayout.call(b.device, uintptr(unsafe.Pointer(layouts)))
	if whole == 0 {
		return 0
	}
	defer b.lib.PipelineLayoutRelease.call(whole)
	code := strings.Replace(spec.WGSL, b.lib.strange(), "", 1)
	source := &wgslSource{chain: chain{kind: stypeWGSL}, code: textOf(code)}
	module := b.lib.newModule(b.device, &labelled{next: unsafe.Pointer(source), label: label})
	if module == 0 {
		return 0
	}
	defer b.lib.ShaderModuleRelease.call(module)
	desc := &pipelineDesc{label: label, layout: whole}
	desc.compute.module, desc.compute.entry = module, textOf(spec.Entry)
	return b.lib.DeviceCreateComputePipeline.call(b.device, uintptr(unsafe.Pointer(desc)))
}

func (b *driver) NewBindGroup(h backend.Pipeline, entries []backend.GroupEntry) (backend.Group, error) {
	list := make([]groupEntry, len(entries))
	for i, e := range entries {
		list[i] = groupEntry{binding: uint32(i), buffer: refOf(e.Buffer), offset: uint64(e.Offset), size: uint64(e.Size)}
	}
	desc := &groupDesc{layout: h.(*object).layout, count: uint(len(list)),
		entries: unsafe.Pointer(unsafe.SliceData(list))}
	group, err := b.made("bind group", func() uintptr {
		return b.lib.DeviceCreateBindGroup.call(b.device, uintptr(unsafe.Pointer(desc)))
	}, func(ref uintptr) { b.lib.BindGroupRelease.call(ref) })
	if err != nil {
		return nil, err // not a nil object in an interface
	}
	return group, nil
}

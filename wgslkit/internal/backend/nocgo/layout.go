//go:build (darwin || linux || windows) && (amd64 || arm64)

package nocgo

import "unsafe"

// These are loaded.h's structs, with its names. A pointer that C only reads is an unsafe.Pointer, so that what it
// points to lives as long as the struct; C's own objects are integers.

type text struct {
	data   unsafe.Pointer
	length uint
}

// textOf is s, which C does not keep.
func textOf(s string) text {
	return text{data: unsafe.Pointer(unsafe.StringData(s)), length: uint(len(s))}
}

type chain struct {
	next unsafe.Pointer
	kind uint32
}

type callback struct {
	next         uintptr
	mode         uint32
	callback     uintptr
	user1, user2 uintptr
}

type uncaptured struct{ next, callback, user1, user2 uintptr }

type instanceDesc struct {
	next             unsafe.Pointer
	features         uint
	required, limits uintptr
}

type cText struct{ data, length uintptr } // written by C

type adapterInfo struct {
	next                                                        unsafe.Pointer
	vendor, architecture, device, description                   cText
	backend, kind, vendorID, deviceID, subgroupMin, subgroupMax uint32
}

type limits struct {
	next                                                                                               uintptr
	texture1D, texture2D, texture3D, textureLayers, bindGroups, bindGroupsPlusVertex, bindingsPerGroup uint32
	dynamicUniform, dynamicStorage, sampledTextures, samplers                                          uint32
	storageBuffers, storageTextures, uniformBuffers                                                    uint32
	uniformBindingSize, storageBindingSize                                                             uint64
	uniformAlignment, storageAlignment, vertexBuffers                                                  uint32
	bufferSize                                                                                         uint64
	vertexAttributes, vertexStride, interStage, colorAttachments, colorBytes                           uint32
	workgroupStorage, workgroupInvocations, workgroupX, workgroupY, workgroupZ                         uint32
	workgroupsPerDimension, immediates                                                                 uint32
}

type labelled struct {
	next  unsafe.Pointer
	label text
}

type deviceDesc struct {
	next       unsafe.Pointer
	label      text
	features   uint
	required   unsafe.Pointer
	limits     *limits
	queue      labelled
	lost       callback
	uncaptured uncaptured
}

type bufferDesc struct {
	next        uintptr
	label       text
	usage, size uint64
	mapped      uint32
}

type bufferLayout struct {
	next          uintptr
	kind, dynamic uint32
	least         uint64
}

type layoutEntry struct {
	next       uintptr
	binding    uint32
	visibility uint64
	array      uint32
	buffer     bufferLayout
	sampler    struct {
		next uintptr
		kind uint32
	}
	texture struct {
		next                          uintptr
		kind, dimension, multisampled uint32
	}
	storage struct {
		next                      uintptr
		access, format, dimension uint32
	}
}

type layoutDesc struct {
	next    uintptr
	label   text
	count   uint
	entries unsafe.Pointer
}

type pipelineLayoutDesc struct {
	next       uintptr
	label      text
	count      uint
	layouts    unsafe.Pointer
	immediates uint32
}

type wgslSource struct {
	chain chain
	code  text
}

type pipelineDesc struct {
	next    uintptr
	label   text
	layout  uintptr
	compute struct {
		next, module uintptr
		entry        text
		constants    uint
		values       uintptr
	}
}

type groupEntry struct {
	next          uintptr
	binding       uint32
	buffer        uintptr
	offset, size  uint64
	sampler, view uintptr
}

type groupDesc struct {
	next    uintptr
	label   text
	layout  uintptr
	count   uint
	entries unsafe.Pointer
}

type queryDesc struct {
	next        uintptr
	label       text
	kind, count uint32
}

type stamps struct {
	next       uintptr //lint:ignore U1000 it is always null, and has its place in the struct
	set        uintptr
	begin, end uint32
}

type passDesc struct {
	next   uintptr
	label  text
	stamps *stamps
}

// The values of the header's enumerations.
const (
	stypeWGSL = 2

	spontaneous   = 3
	statusSuccess = 1

	filterValidation  = 1
	filterOutOfMemory = 2
	errorNone         = 1

	adapterDiscrete   = 1
	adapterIntegrated = 2
	adapterCPU        = 3

	backendD3D12  = 4
	backendMetal  = 5
	backendVulkan = 6
	backendGL     = 7
	backendGLES   = 8

	bindUniform  = 2
	bindStorage  = 3
	bindReadOnly = 4

	mapRead        = 1
	stageCompute   = 4
	queryTimestamp = 2

	featureTimestamps = 9
	featureF16        = 0xB
)

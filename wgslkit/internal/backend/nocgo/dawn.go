//go:build (darwin || linux || windows) && (amd64 || arm64)

package nocgo

import (
	"os"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/gemwire/gemwire/wgslkit/adapter"
)

// dawn is what Dawn has of its own, as it has been since March 2026 (loaded/testdata/dawn/webgpu.h).
type dawn struct {
	lib *library
	dawnCalls
}

// The first is called by nobody: those older than March 2026 lack it, and number their features otherwise.
type dawnCalls struct {
	ComputePassEncoderSetResourceTable, InstanceProcessEvents, InstanceRequestAdapter,
	AdapterPropertiesSubgroupMatrixConfigsFreeMembers, DeviceCreateShaderModule, QueueSubmit,
	QueueOnSubmittedWorkDone proc
}

type dawnAdapterOptions struct {
	next                            unsafe.Pointer
	level, power, fallback, backend uint32
	surface                         uintptr
}

type dawnToggles struct {
	chain    chain
	enabled  uint
	enable   unsafe.Pointer
	disabled uint
	disable  unsafe.Pointer
}

type dawnMatrices struct {
	chain   chain
	count   uint
	configs uintptr
}

type matrix struct{ component, result, m, n, k uint32 }

const (
	stypeDawnToggles  = 0x5000A
	stypeDawnMatrices = 0x5003B

	dawnCore           = 2
	dawnLowPower       = 1
	dawnHighPower      = 2
	dawnThreads        = 0x50004
	dawnSubgroups      = 0x12
	dawnSubgroupMatrix = 0x50034
)

// toggles are Dawn's switches. Subgroup matrices are among the APIs that it calls unsafe, since they are experimental,
// and need Vulkan's memory model. It leaves f16 out on NVIDIA for some of its own tests; gemwire doctor has those for
// what the kernels do. The kernels say themselves which workgroup memory has to be zero; and times are wanted to the
// nanosecond. GEMWIRE_DAWN_TOGGLES names more, with commas between and a minus before one to switch off.
var toggles = sync.OnceValue(func() *dawnToggles {
	on := []string{"allow_unsafe_apis", "use_vulkan_memory_model", "vulkan_enable_f16_on_nvidia",
		"disable_workgroup_init"}
	off := []string{"timestamp_quantization"}
	separator := func(r rune) bool { return r == ',' || r == ' ' }
	for _, name := range strings.FieldsFunc(os.Getenv("GEMWIRE_DAWN_TOGGLES"), separator) {
		if without, ok := strings.CutPrefix(name, "-"); ok {
			off = append(off, without)
		} else {
			on = append(on, name)
		}
	}
	return &dawnToggles{chain: chain{kind: stypeDawnToggles},
		enabled: uint(len(on)), enable: terminated(on), disabled: uint(len(off)), disable: terminated(off)}
})

// terminated is a C array of C strings.
func terminated(list []string) unsafe.Pointer {
	pointers := make([]*byte, len(list))
	for i, s := range list {
		pointers[i] = unsafe.StringData(s + "\x00")
	}
	return unsafe.Pointer(unsafe.SliceData(pointers))
}

func (d *dawn) start() {}

func (d *dawn) openInstance() uintptr {
	desc := &instanceDesc{next: unsafe.Pointer(toggles())}
	return d.lib.CreateInstance.call(uintptr(unsafe.Pointer(desc)))
}

// adapters asks for the best of each kind, for Dawn's C API lists none.
func (d *dawn) adapters(instance uintptr) []uintptr {
	backend := map[string]uint32{"darwin": backendMetal, "linux": backendVulkan, "windows": backendD3D12}[runtime.GOOS]
	var found []uintptr
	for _, asked := range []dawnAdapterOptions{{power: dawnHighPower}, {power: dawnLowPower}, {fallback: 1}} {
		asked.next, asked.level, asked.backend = unsafe.Pointer(toggles()), dawnCore, backend
		one := d.requestAdapter(instance, &asked)
		switch {
		case one == 0:
		case d.among(found, one):
			d.lib.AdapterRelease.call(one)
		default:
			found = append(found, one)
		}
	}
	return found
}

func (d *dawn) requestAdapter(instance uintptr, asked *dawnAdapterOptions) uintptr {
	r := &request{}
	number := await(r)
	defer forget(number)
	answer := onSpontaneous(d.lib.callbacks.adapter, number)
	d.InstanceRequestAdapter.callWith(wordsOf(&answer), instance, uintptr(unsafe.Pointer(asked)))
	for !read(r, func(r *request) bool { return r.done }) {
		d.InstanceProcessEvents.call(instance)
	}
	return r.handle
}

// among tells whether an adapter is one of those found.
func (d *dawn) among(found []uintptr, one uintptr) bool {
	about := d.lib.describe(one)
	for _, other := range found {
		known := d.lib.describe(other)
		if known.Name == about.Name && known.Driver == about.Driver && known.Backend == about.Backend {
			return true
		}
	}
	return false
}

// matrixTypes are by the header's numbers.
var matrixTypes = map[uint32]adapter.MatrixType{1: adapter.MatrixF32, 2: adapter.MatrixF16, 3: adapter.MatrixU32,
	4: adapter.MatrixI32, 5: adapter.MatrixU8, 6: adapter.MatrixI8}

// mostMatrices is more than an adapter lists.
const mostMatrices = 64

func (d *dawn) subgroupMatrices(a uintptr) (list []adapter.SubgroupMatrix) {
	if uint32(d.lib.AdapterHasFeature.call(a, dawnSubgroupMatrix)) == 0 {
		return nil
	}
	matrices := &dawnMatrices{chain: chain{kind: stypeDawnMatrices}}
	info := &adapterInfo{next: unsafe.Pointer(matrices)}
	if uint32(d.lib.AdapterGetInfo.call(a, uintptr(unsafe.Pointer(info)))) != statusSuccess {
		return nil
	}
	if matrices.count > 0 {
		for _, m := range unsafe.Slice((*matrix)(addressed(matrices.configs)), min(matrices.count, mostMatrices)) {
			list = append(list, adapter.SubgroupMatrix{Component: matrixTypes[m.component], Result: matrixTypes[m.result],
				M: int(m.m), N: int(m.n), K: int(m.k)})
		}
	}
	d.AdapterPropertiesSubgroupMatrixConfigsFreeMembers.callWith(wordsOf(matrices))
	d.lib.AdapterInfoFreeMembers.callWith(wordsOf(info))
	return list
}

func (d *dawn) strange() string { return "" }

func (d *dawn) features() []feature {
	return []feature{
		{dawnThreads, nil}, // without it, a device may be used by one thread at a time
		{featureTimestamps, func(f *adapter.Features) { f.Timestamps = true }},
		{featureF16, func(f *adapter.Features) { f.ShaderF16 = true }},
		{dawnSubgroups, func(f *adapter.Features) { f.Subgroups = true }},
		{dawnSubgroupMatrix, func(f *adapter.Features) { f.SubgroupMatrix = true }},
	}
}

func (d *dawn) prepareDevice(desc *deviceDesc, state uintptr) {
	desc.next = unsafe.Pointer(toggles())
	desc.lost = onSpontaneous(d.lib.callbacks.lost, state)
}

func (d *dawn) newModule(device uintptr, named *labelled) uintptr {
	return d.DeviceCreateShaderModule.call(device, uintptr(unsafe.Pointer(named)))
}

// timestampPeriod is 1: Dawn makes nanoseconds of ticks.
func (d *dawn) timestampPeriod(uintptr) float64 { return 1 }

func (d *dawn) submit() proc { return d.QueueSubmit }

func (d *dawn) scopes() bool { return true }

// poll has callbacks called. Work that is done is told in one.
func (d *dawn) poll(instance, _ uintptr) bool {
	d.InstanceProcessEvents.call(instance)
	return false
}

func (d *dawn) workDone(queue, state uintptr) bool {
	done := onSpontaneous(d.lib.callbacks.done, state)
	d.QueueOnSubmittedWorkDone.callWith(wordsOf(&done), queue)
	return true
}

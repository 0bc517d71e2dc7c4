//go:build (darwin || linux || windows) && (amd64 || arm64)

package nocgo

import (
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/gemwire/gemwire/wgslkit/adapter"
)

// wgpu is what wgpu-native has of its own.
type wgpu struct {
	lib *library
	wgpuCalls
	period func(queue uintptr) float32
}

type wgpuCalls struct {
	GetVersion, SetLogLevel, InstanceEnumerateAdapters, DeviceCreateShaderModuleTrusted, DevicePoll,
	QueueSubmitForIndex proc
}

// resolvePeriod finds the one function that returns a float.
func (w *wgpu) resolvePeriod(handle uintptr) error {
	address, err := symbol(handle, "wgpuQueueGetTimestampPeriod")
	if err == nil {
		purego.RegisterFunc(&w.period, address)
	}
	return err
}

type instanceExtras struct {
	chain                  chain
	backends, flags        uint64
	compiler, gles, fences uint32
	dxc                    text
	model, swapchain       uint32
	budgets                [2]uintptr
	display                [3]uint64
}

type enumerateOptions struct {
	next     uintptr
	backends uint64
}

const (
	stypeInstanceExtras = 0x30004
	wgpuSubgroups       = 0x30021
	wgpuSubgroupBarrier = 0x30023
	backendsPrimary     = 1 | 4 | 8 | 32
	checkBounds         = 1
)

func (w *wgpu) start() { w.SetLogLevel.call(0) }

func (w *wgpu) openInstance() uintptr {
	extras := &instanceExtras{chain: chain{kind: stypeInstanceExtras}, backends: backendsPrimary}
	desc := &instanceDesc{next: unsafe.Pointer(extras)}
	return w.lib.CreateInstance.call(uintptr(unsafe.Pointer(desc)))
}

// mostAdapters is more than a machine has.
const mostAdapters = 64

func (w *wgpu) adapters(instance uintptr) []uintptr {
	options := &enumerateOptions{backends: backendsPrimary}
	count := w.InstanceEnumerateAdapters.call(instance, uintptr(unsafe.Pointer(options)), 0)
	if count == 0 || count > mostAdapters {
		return nil
	}
	found := make([]uintptr, count)
	n := w.InstanceEnumerateAdapters.call(instance, uintptr(unsafe.Pointer(options)), uintptr(unsafe.Pointer(&found[0])))
	return found[:min(n, count)]
}

func (w *wgpu) subgroupMatrices(uintptr) []adapter.SubgroupMatrix { return nil }

// strange is what wgpu-native has without being asked.
func (w *wgpu) strange() string { return "enable subgroups;\n" }

func (w *wgpu) features() []feature {
	return []feature{
		{featureTimestamps, func(f *adapter.Features) { f.Timestamps = true }},
		{featureF16, func(f *adapter.Features) { f.ShaderF16 = true }},
		{wgpuSubgroups, func(f *adapter.Features) { f.Subgroups = true }},
		{wgpuSubgroupBarrier, nil},
	}
}

func (w *wgpu) prepareDevice(*deviceDesc, uintptr) {}

// A counter in each loop, which new versions add, costs more than it is worth in shaders that are all our own; checks
// of bounds stay.
func (w *wgpu) newModule(device uintptr, named *labelled) uintptr {
	return w.DeviceCreateShaderModuleTrusted.call(device, uintptr(unsafe.Pointer(named)), checkBounds)
}

func (w *wgpu) timestampPeriod(queue uintptr) float64 { return float64(w.period(queue)) }

func (w *wgpu) submit() proc { return w.QueueSubmitForIndex }

func (w *wgpu) scopes() bool { return false }

// poll's result is a bool of Rust in spite of the header: what it returns beyond eight bits is left over from something
// else.
func (w *wgpu) poll(_, device uintptr) bool { return uint8(w.DevicePoll.call(device, 0, 0)) != 0 }

func (w *wgpu) workDone(uintptr, uintptr) bool { return false }

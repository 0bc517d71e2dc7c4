//go:build (linux || darwin) && (amd64 || arm64)

package llamacpp

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Device is one that llama.cpp can compute on.
type Device struct {
	Name string // "Vulkan0"
	Text string // "NVIDIA H200"

	handle uintptr
	kind   int32
}

// backend is the one that the device's name begins with.
func (d Device) backend() Backend {
	name := strings.ToLower(d.Name)
	for _, b := range backends {
		if strings.HasPrefix(name, string(b)) {
			return b
		}
	}
	return Backend(strings.TrimRight(name, "0123456789"))
}

// Devices are all that the backends have found.
func (l *Library) Devices() (all []Device) {
	for i := range l.deviceCount() {
		handle := l.device(i)
		all = append(all,
			Device{Name: l.deviceName(handle), Text: l.deviceText(handle), handle: handle, kind: l.deviceType(handle)})
	}
	return all
}

// pick is the device of a backend, of the best one where none is named.
func (l *Library) pick(wanted Backend) (Device, error) {
	all := l.Devices()
	order := backends
	if wanted != "" {
		order = []Backend{wanted}
	}
	for _, backend := range order {
		for _, d := range all {
			if d.backend() == backend && (backend == CPU) == (d.kind == deviceCPU) {
				return d, nil
			}
		}
	}
	var names []string
	for _, d := range all {
		names = append(names, d.Name)
	}
	return Device{}, fmt.Errorf("llama.cpp finds no device for the backend %s, only %s%s; or take another --backend",
		wanted, strings.Join(names, ", "), l.missing(wanted))
}

// missing says why a backend's library was not opened, which llama.cpp does not.
func (l *Library) missing(backend Backend) string {
	file := library(l.Folder.Path, "libggml-"+string(backend))
	if file == "" {
		return ""
	}
	if _, err := purego.Dlopen(file, purego.RTLD_NOW|purego.RTLD_LOCAL); err != nil {
		return fmt.Sprintf(": %v; put the folder of what is missing in LD_LIBRARY_PATH", err)
	}
	return ""
}

// Model is a loaded one. It is for one goroutine.
type Model struct {
	Device Device
	Text   string // what llama.cpp calls it: "gemma4 E2B Q4_K - Medium"
	Vocab  int

	lib    *Library
	handle uintptr
}

// Load loads a model from a file that holds no towers: llama.cpp refuses those.
// ctx ends it early.
func (l *Library) Load(ctx context.Context, path string, o ModelOptions) (*Model, error) {
	device, err := l.pick(o.Backend)
	if err != nil {
		return nil, err
	}
	params := l.modelDefaults()
	devices := []uintptr{device.handle, 0}
	params.gpuLayers, params.splitMode = 999, splitLayer
	if o.Layers > 0 {
		params.gpuLayers = int32(o.Layers)
	}
	if device.kind == deviceCPU {
		devices, params.gpuLayers = []uintptr{0}, 0
	}
	params.devices = &devices[0]
	params.progressCallback, params.progressUser = goOn(), nil
	loading.Store(&ctx)
	defer loading.Store(nil)
	quiet()
	handle := l.modelLoad(path, params)
	runtime.KeepAlive(devices)
	if handle == 0 {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return nil, failed("%s could not be loaded", path)
	}
	m := &Model{Device: device, lib: l, handle: handle, Vocab: int(l.vocabTokens(l.modelVocab(handle)))}
	var text [128]byte
	n := l.modelText(handle, &text[0], uint64(len(text)))
	m.Text = string(text[:max(0, min(int(n), len(text)-1))])
	return m, nil
}

// Close frees the model, after its contexts.
func (m *Model) Close() {
	m.lib.modelFree(m.handle)
	m.handle = 0
}

// batchTokens are handed over in one call: llama.cpp's default.
const batchTokens = 2048

// Context is a model's caches. It is for one goroutine.
type Context struct {
	model    *Model
	handle   uintptr
	sampler  uintptr
	onDevice bool
}

// NewContext makes caches as llama.cpp's own programs ask for: in F16, of the
// window's size on sliding layers, with flash attention where it can.
func (m *Model) NewContext(o ContextOptions) (*Context, error) {
	c := &Context{model: m, onDevice: o.OnDevice}
	params := m.lib.contextDefaults()
	params.context, params.batch, params.microBatch = uint32(o.Tokens), batchTokens, uint32(o.MicroBatch)
	params.threads, params.threadsBatch = int32(o.Threads), int32(o.Threads)
	params.swaFull = false
	greedy := []samplerConfig{{}}
	if o.OnDevice {
		c.sampler = m.lib.chainInit(m.lib.chainDefaults())
		m.lib.chainAdd(c.sampler, m.lib.greedy())
		greedy[0].sampler = c.sampler
		params.samplers, params.samplerCount = &greedy[0], 1
	}
	quiet()
	c.handle = m.lib.contextInit(m.handle, params)
	runtime.KeepAlive(greedy)
	if c.handle == 0 {
		c.Close()
		return nil, failed("no context of %d tokens could be made", o.Tokens)
	}
	return c, nil
}

// Close frees the caches.
func (c *Context) Close() {
	if c.handle != 0 {
		c.model.lib.contextFree(c.handle)
		c.handle = 0
	}
	if c.sampler != 0 {
		c.model.lib.samplerFree(c.sampler)
		c.sampler = 0
	}
}

// Clear forgets all tokens.
func (c *Context) Clear() {
	c.model.lib.memoryClear(c.model.lib.memory(c.handle), false)
	c.model.lib.synchronize(c.handle)
}

// Feed computes tokens behind those that are there. ctx ends it between two
// batches.
func (c *Context) Feed(ctx context.Context, tokens []int32) error {
	quiet()
	for part := range slices.Chunk(tokens, batchTokens) {
		if err := ctx.Err(); err != nil {
			return err
		}
		status := c.model.lib.decode(c.handle, batch{tokens: int32(len(part)), token: &part[0]})
		runtime.KeepAlive(part)
		if status != 0 {
			return failed("llama_decode of %d tokens returned %d", len(part), status)
		}
	}
	return nil
}

// Choose is the likeliest token behind those that were fed, and waits for it.
func (c *Context) Choose() (int32, error) {
	if c.onDevice {
		if token := c.model.lib.sampled(c.handle, -1); token != noToken {
			return token, nil
		}
		return 0, failed("the device chose no token")
	}
	at := c.model.lib.logits(c.handle, -1)
	if at == nil {
		return 0, failed("there are no logits")
	}
	return argMax(unsafe.Slice(at, c.model.Vocab)), nil
}

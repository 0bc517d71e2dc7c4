// Package wgslkit is a small kit for computing with WebGPU: a device and what
// it can do, buffers that are counted by purpose, WGSL files composed into
// kernel variants, and programs that are recorded once and replayed.
//
// It knows nothing about any model. Package ops, below it, holds
// model-agnostic kernels.
//
// Read device.go first, then buffer.go, shader.go, kernel.go and program.go;
// readback.go, upload.go, profile.go, avoid.go and rehearsal.go stand beside them. Platforms are
// in folders of internal/backend, which says what each must do: pinned and loaded are wgpu (Vulkan,
// Metal, DX12), linked in or loaded, js is the browser. open_native.go and open_js.go choose one.
package wgslkit

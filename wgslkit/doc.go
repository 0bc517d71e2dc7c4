// Package wgslkit is a small kit for computing with WebGPU: a device and what
// it can do, buffers that are counted by purpose, WGSL files composed into
// kernel variants, and programs that are recorded once and replayed.
//
// It knows nothing about any model. Package ops, below it, holds
// model-agnostic kernels.
//
// Read device.go first, then buffer.go, shader.go, kernel.go and program.go;
// readback.go, upload.go, profile.go, avoid.go and rehearsal.go stand beside them. backend.go is the
// seam behind which a platform stands: backend_native.go is wgpu (Vulkan,
// Metal, DX12), linked in or loaded, backend_js.go with webgpu.js the browser.
package wgslkit

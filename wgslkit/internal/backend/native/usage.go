//go:build !js

package native

import "github.com/gemwire/gemwire/wgslkit/internal/backend"

// The bits of WGPUBufferUsage.
const (
	BufferMapRead = 0x1
	BufferCopySrc = 0x4
	BufferCopyDst = 0x8
	BufferUniform = 0x40
	BufferStorage = 0x80
	BufferQueries = 0x200
)

// BufferUsage is u in these bits.
func BufferUsage(u backend.Usage) uint32 {
	switch u {
	case backend.UsageStorage:
		return BufferStorage | BufferCopyDst | BufferCopySrc
	case backend.UsageUniform:
		return BufferUniform | BufferCopyDst
	}
	return BufferMapRead | BufferCopyDst
}

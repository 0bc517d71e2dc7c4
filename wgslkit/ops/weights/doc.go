// Package weights holds quantized matrices on the GPU: how the blocks of each type lie
// there, how they are streamed and re-laid, and the look-up of rows.
//
// Read planes.go for the layouts, matrix.go for what a Matrix is, and upload.go for how
// one gets there. unit.wgsl is how kernels read weights, by the pieces in decode/, each
// with its block drawn on top.
package weights

import (
	"embed"

	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

//go:embed *.wgsl decode
var embedded embed.FS

// Files are the room's WGSL.
var Files = record.NewFiles("weights", embedded, nil, record.Shared)

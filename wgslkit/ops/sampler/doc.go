// Package sampler chooses the next token on the GPU.
//
// Read sample.go for the algorithm, sampler.go for what a session keeps, and
// sample_settings.wgsl for how it lies in memory. argmax.go is greedy choice alone, for
// drafts.
package sampler

import (
	"embed"

	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

//go:embed *.wgsl
var embedded embed.FS

// Files are the room's WGSL.
var Files = record.NewFiles("sampler", embedded, nil, record.Shared)

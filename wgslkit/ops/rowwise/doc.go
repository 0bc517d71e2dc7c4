// Package rowwise holds ops whose tokens are rows that have nothing to do with each other:
// norms, sums, gates, and rows that are copied, picked and put back.
//
// One file stands for each op. activation.go numbers the activations that products,
// gates and attention share.
package rowwise

import (
	"embed"

	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

//go:embed *.wgsl
var embedded embed.FS

// Files are the room's WGSL.
var Files = record.NewFiles("rowwise", embedded, nil, record.Shared)

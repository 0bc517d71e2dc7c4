// Package rope turns heads by their positions: the table of a rotation, the piece of WGSL
// that reads it, and the op that rotates rows by themselves, forward and back.
package rope

import (
	"embed"

	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

//go:embed *.wgsl
var embedded embed.FS

// Files are the room's WGSL.
var Files = record.NewFiles("rope", embedded, nil, record.Shared)

// Package tower holds what the encoders of images and audio need besides: convolutions,
// places on a grid, attention in which all tokens see each other, and attention by
// distance.
package tower

import (
	"embed"

	"github.com/gemwire/gemwire/wgslkit/ops/attention"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
	"github.com/gemwire/gemwire/wgslkit/ops/rowwise"
)

//go:embed *.wgsl
var embedded embed.FS

// Files are the room's WGSL.
var Files = record.NewFiles("tower", embedded, nil, attention.Files, rowwise.Files)

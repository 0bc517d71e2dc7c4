// Package attention is attention over a cache: of a step's token, of the few tokens of a
// draft, and of a prompt's.
//
// Read attention.go for what is computed and which kernel does it, attention_plan.go for
// how a step's keys are split, and partials.go for what the splits leave.
package attention

import (
	"embed"

	"github.com/gemwire/gemwire/wgslkit/ops/kvcache"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

//go:embed *.wgsl
var embedded embed.FS

// Files are the room's WGSL.
var Files = record.NewFiles("attention", embedded, nil, kvcache.Files)

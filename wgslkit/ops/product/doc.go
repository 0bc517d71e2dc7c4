// Package product multiplies matrices with vectors: eight kernels, and the choice among
// them.
//
// Read linear.go first, which says what a product is, then choose.go, the table of
// kernels. vector/ holds the WGSL of one token and of few, tiles/ that of prompts, small/
// that of devices that compile slowly, dense/ that of matrices of float32, and parts/ what
// they share.
package product

import (
	"embed"

	"github.com/gemwire/gemwire/wgslkit/ops/attention"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
	"github.com/gemwire/gemwire/wgslkit/ops/rowwise"
	"github.com/gemwire/gemwire/wgslkit/ops/weights"
)

//go:embed vector tiles dense small parts
var embedded embed.FS

// Files are the room's WGSL.
var Files = record.NewFiles("product", embedded, []string{"vector", "tiles", "dense", "small", "parts"},
	attention.Files, rowwise.Files, weights.Files)

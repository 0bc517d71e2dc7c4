// Package backward holds what training needs: what products, norms, experts and attention
// hand back to their inputs, the loss, and the optimizer.
//
// Gates and rotations have their ways back beside them, in rowwise and rope.
package backward

import (
	"embed"

	"github.com/gemwire/gemwire/wgslkit/ops/product"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

//go:embed *.wgsl
var embedded embed.FS

// Files are the room's WGSL.
var Files = record.NewFiles("backward", embedded, nil, product.Files)

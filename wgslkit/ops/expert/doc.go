// Package expert routes tokens to experts: the choice, products with the chosen ones pair
// by pair or by expert, and the sums over a token's slots.
package expert

import (
	"embed"

	"github.com/gemwire/gemwire/wgslkit/ops/product"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

//go:embed *.wgsl
var embedded embed.FS

// Files are the room's WGSL.
var Files = record.NewFiles("expert", embedded, nil, product.Files)

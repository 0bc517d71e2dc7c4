// Package kvcache keeps the keys and values of a layer's tokens.
//
// Read cacheshape.go for sizes and types, kvcache.go for the cache, and storekv.go for
// how a program puts its tokens in. store_kv.wgsl draws the layout, and cell.wgsl and
// cache_column.wgsl are how attention reads it.
package kvcache

import (
	"embed"

	"github.com/gemwire/gemwire/wgslkit/ops/record"
	"github.com/gemwire/gemwire/wgslkit/ops/rope"
)

//go:embed *.wgsl
var embedded embed.FS

// Files are the room's WGSL.
var Files = record.NewFiles("kvcache", embedded, nil, record.Shared, rope.Files)

package engine

import (
	"fmt"

	"github.com/gemwire/gemwire/quant"
)

// CacheType says what sessions keep keys and values as.
type CacheType string

// The types of caches.
const (
	// CacheF16 is float16, and float32 on the CPU. The zero value means the same.
	CacheF16 CacheType = "f16"
	// CacheQ8 is 8 bits, with a float16 scale for each 32 values of a head
	// (quant.Q8_0): 17/32 of the memory of float16.
	CacheQ8 CacheType = "q8"
)

// ParseCacheType is t, or what its zero value means.
func ParseCacheType(t CacheType) (CacheType, error) {
	switch t {
	case "":
		return CacheF16, nil
	case CacheF16, CacheQ8:
		return t, nil
	}
	return t, fmt.Errorf("%w: a KV cache of type %q; say f16 or q8", ErrUnsupported, t)
}

// CacheValues is the type of the values in a cache where float is what the device
// computes with.
func CacheValues(t CacheType, float quant.Type) quant.Type {
	if t == CacheQ8 {
		return quant.Q8_0
	}
	return float
}

// CacheTypeOf says in which caches values of a type lie.
func CacheTypeOf(t quant.Type) CacheType {
	if t == quant.Q8_0 {
		return CacheQ8
	}
	return CacheF16
}

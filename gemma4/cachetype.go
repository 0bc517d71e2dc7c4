package gemma4

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

// filled is t, or what its zero value means.
func (t CacheType) filled() (CacheType, error) {
	switch t {
	case "":
		return CacheF16, nil
	case CacheF16, CacheQ8:
		return t, nil
	}
	return t, fmt.Errorf("%w: a KV cache of type %q; say f16 or q8", ErrUnsupported, t)
}

// onGPU and onCPU are how the values lie there.
func (t CacheType) onGPU() quant.Type {
	if t == CacheQ8 {
		return quant.Q8_0
	}
	return quant.F16
}

func (t CacheType) onCPU() quant.Type {
	if t == CacheQ8 {
		return quant.Q8_0
	}
	return quant.F32
}

// cacheTypeOf says in which caches values of a type lie.
func cacheTypeOf(t quant.Type) CacheType {
	if t == quant.Q8_0 {
		return CacheQ8
	}
	return CacheF16
}

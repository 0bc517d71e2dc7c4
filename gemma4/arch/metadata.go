package arch

import (
	"errors"
	"fmt"
	"math"

	"github.com/gemwire/gemwire/gguf"
)

// reader reads keys below a prefix ("gemma4.") and keeps the first error, so that a
// list of keys reads as a list. blocks is the number of layers, known after the first key.
type reader struct {
	meta   gguf.Metadata
	prefix string
	blocks int
	err    error
}

func (r *reader) fullKey(key string) string { return r.prefix + "." + key }

func (r *reader) fail(key, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%s %s: %w", r.fullKey(key), fmt.Sprintf(format, args...), ErrConfig)
	}
}

func (r *reader) keep(err error) {
	if r.err == nil && err != nil {
		r.err = fmt.Errorf("reading the model's sizes: %w", err)
	}
}

func (r *reader) has(key string) bool {
	_, ok := r.meta.Lookup(r.fullKey(key))
	return ok
}

// uints reads one integer or an array of integers, each from low to high.
func (r *reader) uints(key string, low, high int) []uint32 {
	if r.err != nil {
		return nil
	}
	values, err := r.meta.Uint32s(r.fullKey(key))
	if err != nil {
		r.keep(err)
		return nil
	}
	if len(values) == 0 {
		r.fail(key, "is an empty array")
	}
	for _, v := range values {
		if int64(v) < int64(low) || int64(v) > int64(high) {
			r.fail(key, "holds %d, wanted %d to %d", v, low, high)
			return nil
		}
	}
	return values
}

// count reads one required integer.
func (r *reader) count(key string, low, high int) int {
	values := r.uints(key, low, high)
	if r.err != nil {
		return 0
	}
	if len(values) != 1 {
		r.fail(key, "holds %d values, wanted one", len(values))
		return 0
	}
	return int(values[0])
}

// optionalCount reads one integer whose absence means 0.
func (r *reader) optionalCount(key string, low, high int) int {
	if !r.has(key) {
		return 0
	}
	return r.count(key, low, high)
}

// each reads one integer for each layer, stored as such or as one for all.
func (r *reader) each(key string, low, high int) perLayer {
	values := r.uints(key, low, high)
	if r.err == nil && len(values) != 1 && len(values) != r.blocks {
		r.fail(key, "holds %d values for %d layers", len(values), r.blocks)
	}
	return perLayer(values)
}

// uniform reads one integer, which may be stored once for each layer.
func (r *reader) uniform(key string, high int) int {
	values := r.each(key, 1, high)
	if r.err != nil {
		return 0
	}
	for _, v := range values {
		if v != values[0] {
			r.fail(key, "differs between layers (%d and %d), which no Gemma does", values[0], v)
			return 0
		}
	}
	return int(values[0])
}

// flags reads one bool for each layer, stored as bools or as integers 0 and 1.
func (r *reader) flags(key string) perLayer {
	if r.err != nil {
		return nil
	}
	bools, err := r.meta.Bools(r.fullKey(key))
	if errors.Is(err, gguf.ErrWrongType) {
		return r.each(key, 0, 1)
	}
	if err != nil {
		r.keep(err)
		return nil
	}
	if len(bools) != 1 && len(bools) != r.blocks {
		r.fail(key, "holds %d values for %d layers", len(bools), r.blocks)
		return nil
	}
	values := make(perLayer, len(bools))
	for i, b := range bools {
		if b {
			values[i] = 1
		}
	}
	return values
}

// float reads one required number, finite and not negative.
func (r *reader) float(key string) float32 {
	if r.err != nil {
		return 0
	}
	v, err := r.meta.Float32(r.fullKey(key))
	if err != nil {
		r.keep(err)
		return 0
	}
	if v < 0 || math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
		r.fail(key, "is %v, wanted a finite number that is not negative", v)
		return 0
	}
	return v
}

func (r *reader) optionalFloat(key string, absent float32) float32 {
	if !r.has(key) {
		return absent
	}
	return r.float(key)
}

// perLayer holds one value for each layer, or a single one for all.
type perLayer []uint32

func (p perLayer) at(i int) int {
	if len(p) == 1 {
		return int(p[0])
	}
	return int(p[i])
}

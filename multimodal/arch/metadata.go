package arch

import (
	"fmt"
	"math"

	"github.com/gemwire/gemwire/gguf"
)

// Bounds of what is believed. They are far above any released model and keep
// products of two sizes inside an int64; what memory is really used is bounded
// by the shapes of the tensors, which are compared with these sizes.
const (
	maxBlocks = 1 << 12
	maxSize   = 1 << 24
)

// reader reads keys below a prefix and keeps the first error, so that a list of
// keys reads as a list.
type reader struct {
	meta   gguf.Metadata
	prefix string // such as "gemma4.vision." or "clip.vision."
	err    error
}

// newReader finds out how the keys of a tower are named.
func newReader(meta gguf.Metadata, tower string) *reader {
	prefix := "gemma4." + tower + "."
	clip := "clip." + tower + "."
	if !meta.Has(prefix+"block_count") && (meta.Has(clip+"block_count") || meta.Has(clip+"projector_type")) {
		prefix = clip
	}
	return &reader{meta: meta, prefix: prefix}
}

func (r *reader) keep(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *reader) fail(key, format string, args ...any) {
	r.keep(fmt.Errorf("%s%s %s: %w", r.prefix, key, fmt.Sprintf(format, args...), ErrConfig))
}

// count reads one required integer from low to high.
func (r *reader) count(key string, low, high int) int {
	if r.err != nil {
		return 0
	}
	v, err := r.meta.Uint32(r.prefix + key)
	if err != nil {
		r.keep(fmt.Errorf("reading its sizes: %w", err))
		return 0
	}
	if int64(v) < int64(low) || int64(v) > int64(high) {
		r.fail(key, "is %d, wanted %d to %d", v, low, high)
		return 0
	}
	return int(v)
}

func (r *reader) optionalCount(key string, low, high, absent int) int {
	if !r.meta.Has(r.prefix + key) {
		return absent
	}
	return r.count(key, low, high)
}

// same checks a key that says again what is known from elsewhere; it may be
// absent.
func (r *reader) same(key string, want int, as string) {
	if got := r.optionalCount(key, 0, maxSize, want); r.err == nil && got != want {
		r.fail(key, "is %d, but it is %d by %s", got, want, as)
	}
}

// projector checks which kind of tower an mmproj file says it holds.
func (r *reader) projector(want string) {
	const key = "projector_type"
	if r.err != nil || !r.meta.Has(r.prefix+key) {
		return
	}
	got, err := r.meta.String(r.prefix + key)
	if err != nil {
		r.keep(err)
	} else if got != want {
		r.fail(key, "is %q and only %q can be run: give the mmproj file of another Gemma 4", got, want)
	}
}

// epsilon reads the ε of the tower's norms.
func (r *reader) epsilon() float32 {
	const key = "attention.layer_norm_epsilon"
	if r.err != nil {
		return 0
	}
	if !r.meta.Has(r.prefix + key) {
		return defaultEps
	}
	v, err := r.meta.Float32(r.prefix + key)
	if err != nil {
		r.keep(fmt.Errorf("reading its sizes: %w", err))
	} else if !(v > 0) || math.IsInf(float64(v), 0) {
		r.fail(key, "is %v, wanted a small positive number", v)
	}
	return v
}

// defaultEps is the ε of the release, for files that leave it away.
const defaultEps = 1e-6

// headDim divides the width among the heads; each half of a head, or each head,
// is made of pairs.
func (r *reader) headDim(width, heads, multiple int) int {
	if r.err != nil {
		return 0
	}
	if width%heads != 0 || width/heads%multiple != 0 {
		r.fail("attention.head_count", "is %d, which does not divide %d into heads of a multiple of %d values", heads,
			width, multiple)
		return 0
	}
	return width / heads
}

package arch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/quant"
)

// resolver finds the tensors of one tower and keeps the first error, which it
// shares with the reader of its keys.
type resolver struct {
	*reader
	file            *gguf.File
	embeddingLength int // of the text model; 0 until the first projection tells
	bytes           int64
}

func newResolver(file *gguf.File, tower string, embeddingLength int) *resolver {
	return &resolver{reader: newReader(file.Meta, tower), file: file, embeddingLength: embeddingLength}
}

// blocks reads the number of blocks, of which each has tensors.
func (r *resolver) blocks() int {
	n := r.count("block_count", 1, maxBlocks)
	if r.err == nil && n > len(r.file.Tensors) {
		r.fail("block_count", "is %d, but the file has no more than %d tensors", n, len(r.file.Tensors))
	}
	return n
}

// lookup finds a tensor by its name, with ".weight" behind it or without.
func (r *resolver) lookup(name string) *gguf.Tensor {
	if t, ok := r.file.Tensor(name + ".weight"); ok {
		return t
	}
	t, _ := r.file.Tensor(name)
	return t
}

// need finds the tensor under the first of its names that the file has; none is
// an error that gives the first of them.
func (r *resolver) need(want []uint64, names ...string) *gguf.Tensor {
	t := r.find(want, names...)
	if t == nil {
		r.keep(fmt.Errorf("%s.weight %v: the file is incomplete or of another model: %w", names[0], want,
			ErrMissingTensor))
	}
	return t
}

// find is need for a tensor that may be absent.
func (r *resolver) find(want []uint64, names ...string) *gguf.Tensor {
	for _, name := range names {
		if t := r.lookup(name); t != nil {
			return r.check(t, want)
		}
	}
	return nil
}

// check compares the type and the shape, in which trailing ones do not count.
func (r *resolver) check(t *gguf.Tensor, want []uint64) *gguf.Tensor {
	r.bytes += t.Size
	if !slices.Equal(trim(t.Dims), trim(want)) {
		r.keep(fmt.Errorf("%s is %v, wanted %v by the metadata: %w", t.Name, t.Dims, want, ErrShape))
	}
	if !t.Type.Supported() {
		r.keep(fmt.Errorf("%s is stored as %s: choose a file in another quantization, such as F16: %w", t.Name, t.Type,
			quant.ErrUnsupported))
	}
	return t
}

// dims finds a tensor of so many dimensions, whose lengths are told by nothing
// but the tensor itself.
func (r *resolver) dims(n int, name string) []int {
	lengths := make([]int, n)
	t := r.lookup(name)
	switch {
	case r.err != nil:
	case t == nil:
		r.keep(fmt.Errorf("%s.weight: the file is incomplete or of another model: %w", name, ErrMissingTensor))
	case len(t.Dims) > n:
		r.keep(fmt.Errorf("%s is %v, wanted %d dimensions: %w", t.Name, t.Dims, n, ErrShape))
	default:
		for i := range lengths {
			lengths[i] = 1
			if i < len(t.Dims) {
				lengths[i] = r.length(t, i)
			}
		}
	}
	return lengths
}

func (r *resolver) length(t *gguf.Tensor, i int) int {
	if t.Dims[i] < 1 || t.Dims[i] > maxSize {
		r.keep(fmt.Errorf("%s is %v, wanted 1 to %d along each dimension: %w", t.Name, t.Dims, maxSize, ErrShape))
		return 0
	}
	return int(t.Dims[i])
}

// linear finds a matrix [in, out] and the bounds that lie beside it.
func (r *resolver) linear(in, out int, names ...string) Linear {
	l := Linear{Weight: r.need(shape(in, out), names...)}
	if l.Weight == nil {
		return l
	}
	name := strings.TrimSuffix(l.Weight.Name, ".weight")
	for i, bound := range boundNames {
		if t, ok := r.file.Tensor(name + "." + bound); ok {
			l.bounds.each[i] = r.check(t, shape(1))
		}
	}
	return l
}

// projection finds the last linear of a tower, whose outputs are a soft token.
func (r *resolver) projection(in int, name string) Linear {
	if r.embeddingLength == 0 {
		r.embeddingLength = r.dims(2, name)[1]
	}
	return r.linear(in, r.embeddingLength, name)
}

// block finds the tensors of one block by their names without "v.blk.i." in
// front.
type block struct {
	*resolver
	prefix string
}

func (b block) names(short []string) []string {
	names := make([]string, len(short))
	for i, s := range short {
		names[i] = b.prefix + s
	}
	return names
}

func (b block) vector(n int, short ...string) *gguf.Tensor {
	return b.resolver.need(shape(n), b.names(short)...)
}

func (b block) matrix(in, out int, short ...string) *gguf.Tensor {
	return b.resolver.need(shape(in, out), b.names(short)...)
}

func (b block) linear(in, out int, short ...string) Linear {
	return b.resolver.linear(in, out, b.names(short)...)
}

func shape(dims ...int) []uint64 {
	s := make([]uint64, len(dims))
	for i, n := range dims {
		s[i] = uint64(n)
	}
	return s
}

func trim(dims []uint64) []uint64 {
	for len(dims) > 0 && dims[len(dims)-1] == 1 {
		dims = dims[:len(dims)-1]
	}
	return dims
}

package gguf

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"math/bits"
	"slices"

	"github.com/gemwire/gemwire/quant"
)

// A Tensor is one named array of numbers in the data section of a file.
type Tensor struct {
	Name string
	Type quant.Type
	// Dims are the lengths of the dimensions as ggml orders them: Dims[0] is the
	// one along which values are contiguous (the length of a row). A tensor
	// without dimensions is a single value.
	Dims []uint64
	// Offset is where the data starts, in bytes from the start of Source.
	Offset int64
	// Size is the length of the data in bytes. Where the type is neither one that
	// quant supports nor one of integers it is the distance to what comes next,
	// padding included.
	Size int64

	src    Source
	infoAt int64 // where the header describes it, for errors
}

// Source is the file that the tensor lies in; of a split model, that part.
func (t *Tensor) Source() Source { return t.src }

// RowLen is the number of values in a row, Dims[0].
func (t *Tensor) RowLen() int {
	if len(t.Dims) == 0 {
		return 1
	}
	return int(t.Dims[0])
}

// Rows is the number of rows, the product of the dimensions after the first.
func (t *Tensor) Rows() int {
	rows := 1
	for _, d := range t.Dims[min(1, len(t.Dims)):] {
		rows *= int(d)
	}
	return rows
}

// Elements is the number of values, the product of all dimensions.
func (t *Tensor) Elements() int { return t.Rows() * t.RowLen() }

// Section returns a reader over the tensor's data, as it lies in the file.
func (t *Tensor) Section() *io.SectionReader { return io.NewSectionReader(t, 0, t.Size) }

// ReadAt reads the tensor's data, as it lies in the file, from byte off of the
// tensor on. It follows io.ReaderAt and is safe for concurrent use.
func (t *Tensor) ReadAt(p []byte, off int64) (int, error) {
	return t.ReadAtContext(context.Background(), p, off)
}

// ReadAtContext is ReadAt, ended early by ctx where the source can do so.
func (t *Tensor) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	if off < 0 || off > t.Size {
		return 0, fmt.Errorf("gguf: tensor %q: read at byte %d of %d: %w", t.Name, off, t.Size, io.ErrUnexpectedEOF)
	}
	n := min(int64(len(p)), t.Size-off)
	if err := readFull(ctx, t.src, p[:n], t.Offset+off); err != nil {
		return 0, fmt.Errorf("gguf: tensor %q: %w", t.Name, err)
	}
	if n < int64(len(p)) {
		return int(n), io.EOF
	}
	return int(n), nil
}

// ReadRows decodes n rows, from row first on, into dst, which holds n·RowLen
// values. Memory beside dst is bounded, whatever the tensor's size. A type that
// cannot be decoded is quant.ErrUnsupported.
func (t *Tensor) ReadRows(dst []float32, first, n int) error {
	return t.ReadRowsContext(context.Background(), dst, first, n)
}

// ReadRowsContext is ReadRows, ended early by ctx.
func (t *Tensor) ReadRowsContext(ctx context.Context, dst []float32, first, n int) error {
	if first < 0 || n < 0 || first > t.Rows()-n || len(dst) != n*t.RowLen() {
		return fmt.Errorf("gguf: tensor %q: rows %d … %d into %d values; it has %d rows of %d",
			t.Name, first, first+n, len(dst), t.Rows(), t.RowLen())
	}
	if !t.Type.Supported() {
		return fmt.Errorf("gguf: tensor %q has type %v: %w", t.Name, t.Type, quant.ErrUnsupported)
	}
	blockLen, blockBytes := t.Type.BlockLen(), t.Type.BlockBytes()
	off := int64(first) * int64(t.RowLen()/blockLen) * int64(blockBytes)
	const chunkBytes = 256 << 10
	chunkBlocks := max(1, min(chunkBytes/blockBytes, len(dst)/blockLen))
	raw := make([]byte, chunkBlocks*blockBytes)
	for len(dst) > 0 {
		blocks := min(chunkBlocks, len(dst)/blockLen)
		part := raw[:blocks*blockBytes]
		if _, err := t.ReadAtContext(ctx, part, off); err != nil {
			return err
		}
		if err := t.Type.Dequantize(dst[:blocks*blockLen], part); err != nil {
			return fmt.Errorf("gguf: tensor %q: %w", t.Name, err)
		}
		dst = dst[blocks*blockLen:]
		off += int64(len(part))
	}
	return nil
}

// fail makes the error about how the header describes t.
func (t *Tensor) fail(format string, args ...any) error {
	return &FormatError{Offset: t.infoAt, Where: fmt.Sprintf("tensor %q", t.Name), Err: fmt.Errorf(format, args...)}
}

// place turns the offsets of a header's tensors into those of the source and
// checks that the data lies inside it, aligned, in whole blocks and apart.
func (h *header) place(src Source) error {
	for _, t := range h.tensors {
		if t.Offset%h.alignment != 0 {
			return t.fail("offset %d is no multiple of the alignment %d", t.Offset, h.alignment)
		}
		t.src = src
		t.Offset += h.dataStart
		if err := t.measure(); err != nil {
			return err
		}
		if t.Offset > src.Size() || t.Size > src.Size()-t.Offset {
			return t.fail("its %d bytes from byte %d on go beyond the %d bytes of the file: %w", t.Size, t.Offset,
				src.Size(), ErrTruncated)
		}
	}
	return h.checkApart(src.Size())
}

// The types of integers, which hold tables rather than weights.
const (
	I8  quant.Type = 24
	I16 quant.Type = 25
	I32 quant.Type = 26
	I64 quant.Type = 27
)

// integerBytes is what an integer of a type takes.
var integerBytes = map[quant.Type]uint64{I8: 1, I16: 2, I32: 4, I64: 8}

// measure sets Size, 0 for a type of unknown size.
func (t *Tensor) measure() error {
	elements := uint64(1)
	for _, d := range t.Dims {
		hi, lo := bits.Mul64(elements, d)
		if hi != 0 || lo > math.MaxInt {
			return t.fail("dimensions %v overflow", t.Dims)
		}
		elements = lo
	}
	if width := integerBytes[t.Type]; width > 0 {
		if elements > math.MaxInt/width {
			return t.fail("dimensions %v overflow", t.Dims)
		}
		t.Size = int64(elements * width)
		return nil
	}
	if !t.Type.Supported() {
		return nil
	}
	if t.RowLen()%t.Type.BlockLen() != 0 {
		return t.fail("rows of %d values are no whole %v blocks of %d", t.RowLen(), t.Type, t.Type.BlockLen())
	}
	size, err := t.Type.Size(int64(elements))
	if err != nil {
		return t.fail("%w", err)
	}
	t.Size = size
	return nil
}

// checkApart refuses tensors that overlap, and gives those of unknown size what
// lies between them and the next.
func (h *header) checkApart(size int64) error {
	byOffset := slices.Clone(h.tensors)
	slices.SortStableFunc(byOffset, func(a, b *Tensor) int { return cmp.Compare(a.Offset, b.Offset) })
	for i, t := range byOffset {
		next := size
		if i+1 < len(byOffset) {
			next = byOffset[i+1].Offset
		}
		if t.Size > next-t.Offset {
			return byOffset[i+1].fail("its data overlaps that of %q", t.Name)
		}
		if !t.Type.Supported() && integerBytes[t.Type] == 0 {
			t.Size = next - t.Offset
		}
	}
	return nil
}

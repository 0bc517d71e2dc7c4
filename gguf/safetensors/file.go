package safetensors

import (
	"errors"
	"fmt"
	"io"
)

// What a caller can act on; errors wrap one of these where one applies. A type
// that is listed but not decoded is quant.ErrUnsupported.
var (
	// ErrFormat: the header contradicts itself, the format or the file's size.
	ErrFormat = errors.New("malformed safetensors file")
	// ErrMissing: there is no tensor of that name.
	ErrMissing = errors.New("tensor is missing")
)

// A File is what the header of a file says.
type File struct {
	Metadata map[string]string // the header's __metadata__, nil if it has none
	Tensors  []*Tensor         // by their place in the file

	byName map[string]*Tensor
}

// A Tensor is one array of numbers in a file.
type Tensor struct {
	Name   string
	DType  DType
	Shape  []int // outermost dimension first; empty for a single value
	Offset int64 // in bytes from the start of the file
	Size   int64 // in bytes

	r io.ReaderAt
}

// Read checks the header of the file of size bytes in r. Values are read from r
// when they are asked for.
func Read(r io.ReaderAt, size int64) (*File, error) {
	header, err := readHeader(r, size)
	if err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	f, err := parseHeader(header)
	if err != nil {
		return nil, fmt.Errorf("safetensors: header: %w", err)
	}
	start := lengthBytes + int64(len(header))
	if err := f.checkLayout(size - start); err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	for _, t := range f.Tensors {
		t.Offset += start
		t.r = r
	}
	return f, nil
}

// Tensor finds a tensor by its name.
func (f *File) Tensor(name string) (*Tensor, bool) {
	t, ok := f.byName[name]
	return t, ok
}

// Floats reads all values of the named tensor.
func (f *File) Floats(name string) ([]float32, error) {
	t, ok := f.byName[name]
	if !ok {
		return nil, fmt.Errorf("safetensors: tensor %q: %w", name, ErrMissing)
	}
	return t.Floats()
}

// Elements is the number of values, the product of the shape.
func (t *Tensor) Elements() int {
	n := 1
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// Section returns a reader over the tensor's bytes, as they lie in the file.
func (t *Tensor) Section() *io.SectionReader { return io.NewSectionReader(t.r, t.Offset, t.Size) }

// Floats reads all values, in the order of the file: the last dimension is
// contiguous. Types beside F32, F16 and BF16 are quant.ErrUnsupported.
func (t *Tensor) Floats() ([]float32, error) {
	if _, err := t.DType.quantType(); err != nil {
		return nil, fmt.Errorf("safetensors: tensor %q: %w", t.Name, err)
	}
	out := make([]float32, t.Elements())
	return out, t.ReadFloats(out, 0)
}

// ReadFloats reads len(dst) values from value first on.
func (t *Tensor) ReadFloats(dst []float32, first int) error {
	typ, err := t.DType.quantType()
	if err != nil {
		return fmt.Errorf("safetensors: tensor %q: %w", t.Name, err)
	}
	if first < 0 || first > t.Elements()-len(dst) {
		return fmt.Errorf("safetensors: tensor %q: values %d … %d of %d", t.Name, first, first+len(dst), t.Elements())
	}
	width := typ.BlockBytes()
	off := t.Offset + int64(first)*int64(width)
	const chunkValues = 1 << 16
	raw := make([]byte, width*min(chunkValues, len(dst)))
	for len(dst) > 0 {
		n := min(chunkValues, len(dst))
		part := raw[:n*width]
		if err := readFull(t.r, part, off); err != nil {
			return fmt.Errorf("safetensors: tensor %q: %w", t.Name, err)
		}
		if err := typ.Dequantize(dst[:n], part); err != nil {
			return fmt.Errorf("safetensors: tensor %q: %w", t.Name, err)
		}
		dst = dst[n:]
		off += int64(len(part))
	}
	return nil
}

// readFull fills p from byte off of r.
func readFull(r io.ReaderAt, p []byte, off int64) error {
	n, err := r.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("read %d bytes at byte %d: %w", len(p), off, err)
}

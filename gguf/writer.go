package gguf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/gemwire/gemwire/quant"
)

const writtenVersion = 3

// A TensorInfo declares a tensor to a [Writer].
type TensorInfo struct {
	Name string
	Type quant.Type
	Dims []uint64 // Dims[0] is the length of a row
}

// A Writer writes a GGUF file front to back, so that a file of any size needs
// little memory. First declare everything with Set and Add; then, for each
// tensor in the order of Add, call Begin and write its data with Write, ReadFrom
// or WriteRows; then Close. The same calls give the same bytes.
type Writer struct {
	w       io.Writer
	meta    Metadata
	tensors []*Tensor // Offset counts from the data section
	names   map[string]bool
	align   int64
	begun   int   // tensors begun so far
	left    int64 // bytes that the tensor begun last still lacks
	started bool  // the header is written
	closed  bool
	scratch []byte // of WriteRows
	err     error  // of the underlying writer, after which nothing can follow
}

// NewWriter returns a Writer of a file of version 3 to w, which it does not
// close. Wrap a slow w in a bufio.Writer only for many small tensors.
func NewWriter(w io.Writer) *Writer {
	return &Writer{w: w, names: make(map[string]bool), align: defaultAlignment}
}

// Set gives key a value, see [NewValue]; a second value takes the place of the
// first. The key general.alignment (a uint32) sets the alignment.
func (w *Writer) Set(key string, value any) error {
	if w.started {
		return fmt.Errorf("gguf: key %q comes after the first tensor's data", key)
	}
	if len(key) == 0 || len(key) > maxKeyLen {
		return fmt.Errorf("gguf: a key has 1 … %d bytes, not %d", maxKeyLen, len(key))
	}
	v, err := NewValue(value)
	if err != nil {
		return fmt.Errorf("gguf: key %q: %w", key, err)
	}
	if key == keyAlignment {
		align, err := alignmentOf(v)
		if err != nil {
			return fmt.Errorf("gguf: key %q: %w", key, err)
		}
		w.align = align
	}
	if !w.meta.add(key, v) {
		w.meta.values[key] = v
	}
	return nil
}

// SetAll sets all keys of meta, such as those of another file.
func (w *Writer) SetAll(meta Metadata) error {
	for _, key := range meta.keys {
		if err := w.Set(key, meta.values[key]); err != nil {
			return err
		}
	}
	return nil
}

// Add declares the next tensor.
func (w *Writer) Add(info TensorInfo) error {
	t := &Tensor{Name: info.Name, Type: info.Type, Dims: append([]uint64(nil), info.Dims...)}
	switch {
	case w.started:
		return fmt.Errorf("gguf: tensor %q is declared after the first tensor's data", t.Name)
	case len(t.Name) == 0 || len(t.Name) > maxKeyLen:
		return fmt.Errorf("gguf: a tensor's name has 1 … %d bytes, not %d", maxKeyLen, len(t.Name))
	case w.names[t.Name]:
		return fmt.Errorf("gguf: tensor %q is declared twice", t.Name)
	case len(t.Dims) > maxDims:
		return fmt.Errorf("gguf: tensor %q has %d dimensions, at most %d can be", t.Name, len(t.Dims), maxDims)
	case !t.Type.Supported() && integerBytes[t.Type] == 0:
		return fmt.Errorf("gguf: tensor %q has type %v: %w", t.Name, t.Type, quant.ErrUnsupported)
	}
	for _, d := range t.Dims {
		if d == 0 {
			return fmt.Errorf("gguf: tensor %q has a dimension of 0: %v", t.Name, t.Dims)
		}
	}
	if err := t.measure(); err != nil {
		return err
	}
	w.names[t.Name] = true
	w.tensors = append(w.tensors, t)
	return nil
}

// Begin starts the data of the named tensor, which must be the next one. The
// first call writes the header.
func (w *Writer) Begin(name string) error {
	if w.closed || w.begun == len(w.tensors) {
		return fmt.Errorf("gguf: tensor %q was not declared, or has its data already", name)
	}
	if next := w.tensors[w.begun].Name; next != name {
		return fmt.Errorf("gguf: tensor %q is begun where %q comes next", name, next)
	}
	if err := w.finish(); err != nil {
		return err
	}
	w.left = w.tensors[w.begun].Size
	w.begun++
	return nil
}

// Write writes the next bytes of the tensor's data. More than the tensor holds
// is an error, and none of them is written.
func (w *Writer) Write(p []byte) (int, error) {
	if int64(len(p)) > w.left {
		return 0, fmt.Errorf("gguf: %d bytes are more than the %d that %s still takes", len(p), w.left, w.current())
	}
	n, err := w.put(p)
	w.left -= int64(n)
	return n, err
}

// ReadFrom writes what r holds, up to its end, as the tensor's data.
func (w *Writer) ReadFrom(r io.Reader) (int64, error) {
	n, err := io.Copy(writerOnly{w}, r)
	if err != nil {
		return n, fmt.Errorf("gguf: %s: %w", w.current(), err)
	}
	return n, nil
}

// writerOnly hides ReadFrom from io.Copy, which would call it again.
type writerOnly struct{ io.Writer }

// WriteRows encodes values, whole rows, to the tensor's type and writes them.
func (w *Writer) WriteRows(values []float32) error {
	if w.begun == 0 {
		return errors.New("gguf: no tensor is begun")
	}
	t := w.tensors[w.begun-1]
	if len(values)%t.RowLen() != 0 {
		return fmt.Errorf("gguf: tensor %q: %d values are no whole rows of %d", t.Name, len(values), t.RowLen())
	}
	const chunkValues = 1 << 16 // whole blocks of every type
	for len(values) > 0 {
		part := values[:min(chunkValues, len(values))]
		size, err := t.Type.Size(int64(len(part)))
		if err != nil {
			return fmt.Errorf("gguf: tensor %q: %w", t.Name, err)
		}
		if int64(cap(w.scratch)) < size {
			w.scratch = make([]byte, size)
		}
		if err := t.Type.Quantize(w.scratch[:size], part); err != nil {
			return fmt.Errorf("gguf: tensor %q: %w", t.Name, err)
		}
		if _, err := w.Write(w.scratch[:size]); err != nil {
			return err
		}
		values = values[len(part):]
	}
	return nil
}

// WriteTensor is Begin and Write in one, for data that is in memory.
func (w *Writer) WriteTensor(name string, data []byte) error {
	if err := w.Begin(name); err != nil {
		return err
	}
	_, err := w.Write(data)
	return err
}

// Close checks that all declared tensors are complete and ends the file. A file
// without tensors is written here.
func (w *Writer) Close() error {
	if w.closed {
		return nil
	}
	if err := w.finish(); err != nil {
		return err
	}
	w.closed = true
	if w.begun < len(w.tensors) {
		return fmt.Errorf("gguf: tensor %q was declared but not written", w.tensors[w.begun].Name)
	}
	return nil
}

// current names the tensor begun last, for errors.
func (w *Writer) current() string {
	if w.begun == 0 {
		return "no tensor (none is begun)"
	}
	return fmt.Sprintf("tensor %q", w.tensors[w.begun-1].Name)
}

// finish completes what is under way: the header or the padding of a tensor.
func (w *Writer) finish() error {
	if w.err != nil {
		return w.err
	}
	if w.left > 0 {
		return fmt.Errorf("gguf: %s lacks %d bytes of its data", w.current(), w.left)
	}
	if !w.started {
		w.started = true
		n, err := w.put(w.header())
		if err != nil {
			return err
		}
		return w.pad(int64(n))
	}
	if w.begun == 0 {
		return nil
	}
	return w.pad(w.tensors[w.begun-1].Size)
}

// pad writes what lacks from size to the alignment.
func (w *Writer) pad(size int64) error {
	var zeros [4096]byte
	for lack := alignUp(size, w.align) - size; lack > 0; {
		n, err := w.put(zeros[:min(lack, int64(len(zeros)))])
		if err != nil {
			return err
		}
		lack -= int64(n)
	}
	return nil
}

func (w *Writer) put(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.w.Write(p)
	if err != nil {
		w.err = fmt.Errorf("gguf: write: %w", err)
	}
	return n, w.err
}

// header lays the tensors out and encodes all that stands before the data.
func (w *Writer) header() []byte {
	b := []byte(magic)
	b = binary.LittleEndian.AppendUint32(b, writtenVersion)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(w.tensors)))
	b = binary.LittleEndian.AppendUint64(b, uint64(w.meta.Len()))
	for _, key := range w.meta.keys {
		v := w.meta.values[key]
		b = appendText(b, key)
		b = binary.LittleEndian.AppendUint32(b, uint32(v.kind))
		b = v.appendTo(b)
	}
	var offset int64
	for _, t := range w.tensors {
		t.Offset = offset
		offset += alignUp(t.Size, w.align)
		b = appendText(b, t.Name)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(t.Dims)))
		for _, d := range t.Dims {
			b = binary.LittleEndian.AppendUint64(b, d)
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(t.Type))
		b = binary.LittleEndian.AppendUint64(b, uint64(t.Offset))
	}
	return b
}

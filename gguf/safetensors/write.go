package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
)

// Values is a tensor to be written.
type Values struct {
	Name   string
	DType  DType // F32, F16 or BF16; empty is F32
	Shape  []int // outermost dimension first
	Values []float32
	// Fill, in place of Values, hands the values over piece by piece, so that
	// they need not be in memory together. It is called once.
	Fill func(write func(values []float32) error) error
}

// Write writes a file of tensors, with metadata under __metadata__ if there is
// any. Values are rounded to the tensor's type. The data begins at a multiple of
// 8 bytes; tensors of wider types come first, so that each is aligned, and those
// of a type are sorted by their names.
func Write(w io.Writer, metadata map[string]string, tensors []Values) error {
	sorted := inOrder(tensors)
	header, err := makeHeader(metadata, sorted)
	if err != nil {
		return fmt.Errorf("safetensors: write: %w", err)
	}
	if _, err := w.Write(header); err != nil {
		return fmt.Errorf("safetensors: write: %w", err)
	}
	for _, t := range sorted {
		if err := t.writeTo(w); err != nil {
			return fmt.Errorf("safetensors: write tensor %q: %w", t.Name, err)
		}
	}
	return nil
}

// inOrder is tensors as they lie in a file.
func inOrder(tensors []Values) []Values {
	return slices.SortedFunc(slices.Values(tensors), func(a, b Values) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), cmp.Compare(a.Name, b.Name))
	})
}

type tensorInfo struct {
	DType   DType    `json:"dtype"`
	Shape   []int    `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"`
}

// makeHeader returns the header with its length in front.
func makeHeader(metadata map[string]string, tensors []Values) ([]byte, error) {
	var b bytes.Buffer
	b.Write(make([]byte, lengthBytes))
	b.WriteByte('{')
	if len(metadata) > 0 {
		if err := writeMember(&b, metadataName, metadata); err != nil {
			return nil, err
		}
	}
	taken := map[string]bool{metadataName: true}
	var at int64
	for _, t := range tensors {
		if taken[t.Name] {
			return nil, fmt.Errorf("the name %q is taken", t.Name)
		}
		taken[t.Name] = true
		if !utf8.ValidString(t.Name) {
			return nil, fmt.Errorf("the name %q is no UTF-8", t.Name)
		}
		size, err := t.check()
		if err != nil {
			return nil, fmt.Errorf("tensor %q: %w", t.Name, err)
		}
		info := tensorInfo{t.dtype(), append([]int{}, t.Shape...), [2]int64{at, at + size}}
		if err := writeMember(&b, t.Name, info); err != nil {
			return nil, err
		}
		at += size
	}
	b.WriteByte('}')
	for b.Len()%8 != 0 {
		b.WriteByte(' ')
	}
	header := b.Bytes()
	binary.LittleEndian.PutUint64(header, uint64(len(header)-lengthBytes))
	return header, nil
}

// writeMember writes a member of the object, with a comma before all but the first.
func writeMember(b *bytes.Buffer, name string, value any) error {
	key, err := json.Marshal(name)
	if err != nil {
		return err
	}
	text, err := json.Marshal(value) // sorts the keys of maps
	if err != nil {
		return err
	}
	if b.Bytes()[b.Len()-1] != '{' {
		b.WriteByte(',')
	}
	b.Write(key)
	b.WriteByte(':')
	b.Write(text)
	return nil
}

func (t Values) dtype() DType { return cmp.Or(t.DType, F32) }

// rank is the place of the type in a file, as the format's own package has it.
func (t Values) rank() int { return slices.Index([]DType{F32, BF16, F16}, t.dtype()) }

// check returns the bytes that the tensor takes.
func (t Values) check() (int64, error) {
	typ, err := t.dtype().quantType()
	if err != nil {
		return 0, err
	}
	n := 1
	for _, d := range t.Shape {
		if d < 0 || len(t.Shape) > maxDims {
			return 0, fmt.Errorf("shape %v", t.Shape)
		}
		n *= d
	}
	if t.Fill == nil && n != len(t.Values) {
		return 0, fmt.Errorf("shape %v is %d values, there are %d", t.Shape, n, len(t.Values))
	}
	return typ.Size(int64(n))
}

func (t Values) writeTo(w io.Writer) error {
	if t.Fill == nil {
		return t.encode(w, t.Values)
	}
	left := 1
	for _, d := range t.Shape {
		left *= d
	}
	err := t.Fill(func(values []float32) error {
		if len(values) > left {
			return fmt.Errorf("%d values are more than the %d that shape %v still takes", len(values), left, t.Shape)
		}
		left -= len(values)
		return t.encode(w, values)
	})
	if err == nil && left > 0 {
		err = fmt.Errorf("%d values of shape %v are missing", left, t.Shape)
	}
	return err
}

func (t Values) encode(w io.Writer, values []float32) error {
	typ, err := t.dtype().quantType()
	if err != nil {
		return err
	}
	const chunkValues = 1 << 16
	raw := make([]byte, typ.BlockBytes()*min(chunkValues, len(values)))
	for len(values) > 0 {
		n := min(chunkValues, len(values))
		part := raw[:n*typ.BlockBytes()]
		if err := typ.Quantize(part, values[:n]); err != nil {
			return err
		}
		if _, err := w.Write(part); err != nil {
			return err
		}
		values = values[n:]
	}
	return nil
}

package safetensors

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

const (
	lengthBytes  = 8
	maxHeader    = 100_000_000 // the bound of the format's own reader
	maxDims      = 8
	metadataName = "__metadata__"
)

// readHeader returns the JSON header.
func readHeader(r io.ReaderAt, size int64) ([]byte, error) {
	if size < lengthBytes {
		return nil, fmt.Errorf("a file of %d bytes is too short: %w", size, ErrFormat)
	}
	var b [lengthBytes]byte
	if err := readFull(r, b[:], 0); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint64(b[:])
	if n > uint64(size-lengthBytes) || n > maxHeader {
		return nil, fmt.Errorf("header length %d at byte 0 is more than the %d bytes that follow, or than %d (not a "+
			"safetensors file, or cut off): %w",
			n, size-lengthBytes, maxHeader, ErrFormat)
	}
	header := make([]byte, n)
	return header, readFull(r, header, lengthBytes)
}

// parseHeader reads the JSON object key by key, since encoding/json would pass
// over names that stand twice. Offsets still count from the data.
func parseHeader(header []byte) (*File, error) {
	f := &File{byName: make(map[string]*Tensor)}
	d := json.NewDecoder(bytes.NewReader(header))
	seenMetadata := false
	err := eachMember(d, func(name string) error {
		if name == metadataName {
			if seenMetadata {
				return fmt.Errorf("%s stands twice", metadataName)
			}
			seenMetadata = true
			return f.readMetadata(d)
		}
		if _, ok := f.byName[name]; ok {
			return fmt.Errorf("tensor %q stands twice", name)
		}
		t := &Tensor{Name: name}
		if err := t.readInfo(d); err != nil {
			return fmt.Errorf("tensor %q: %w", name, err)
		}
		f.byName[name] = t
		f.Tensors = append(f.Tensors, t)
		return nil
	})
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is data after the JSON object")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("before byte %d: %w: %w", lengthBytes+d.InputOffset(), err, ErrFormat)
	}
	return f, nil
}

// eachMember calls f with the name of each member of the object that d stands
// before; f reads the value.
func eachMember(d *json.Decoder, f func(name string) error) error {
	if err := expect(d, json.Delim('{')); err != nil {
		return err
	}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		name, ok := token.(string)
		if !ok {
			return fmt.Errorf("%v is no name", token)
		}
		if err := f(name); err != nil {
			return err
		}
	}
	return expect(d, json.Delim('}'))
}

func expect(d *json.Decoder, want json.Delim) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	if token != want {
		return fmt.Errorf("%v stands where %q belongs", token, want.String())
	}
	return nil
}

func (f *File) readMetadata(d *json.Decoder) error {
	f.Metadata = make(map[string]string)
	return eachMember(d, func(key string) error {
		if _, ok := f.Metadata[key]; ok {
			return fmt.Errorf("%s: key %q stands twice", metadataName, key)
		}
		token, err := d.Token()
		if err != nil {
			return err
		}
		text, ok := token.(string)
		if !ok {
			return fmt.Errorf("%s: the value of %q is no string", metadataName, key)
		}
		f.Metadata[key] = text
		return nil
	})
}

// readInfo reads {"dtype": …, "shape": […], "data_offsets": [begin, end]}.
func (t *Tensor) readInfo(d *json.Decoder) error {
	var dtype *DType
	var shape, offsets []int64
	err := eachMember(d, func(name string) error {
		switch {
		case name == "dtype" && dtype == nil:
			return d.Decode(&dtype)
		case name == "shape" && shape == nil:
			return d.Decode(&shape)
		case name == "data_offsets" && offsets == nil:
			return d.Decode(&offsets)
		}
		return fmt.Errorf("member %q is unknown or stands twice", name)
	})
	if err != nil {
		return err
	}
	if dtype == nil || shape == nil || len(offsets) != 2 {
		return errors.New("it lacks a dtype, a shape or two data_offsets")
	}
	begin, end := offsets[0], offsets[1]
	if begin < 0 || end < begin {
		return fmt.Errorf("data_offsets %v", offsets)
	}
	t.DType, t.Offset, t.Size = *dtype, begin, end-begin
	return t.checkShape(shape)
}

// checkShape sets Shape and checks that it takes Size bytes.
func (t *Tensor) checkShape(shape []int64) error {
	if len(shape) > maxDims {
		return fmt.Errorf("%d dimensions; at most %d are read", len(shape), maxDims)
	}
	width, ok := dtypeBits[t.DType]
	if !ok {
		return fmt.Errorf("unknown dtype %q", string(t.DType))
	}
	bits := width
	empty := slices.Contains(shape, 0)
	t.Shape = make([]int, len(shape))
	for i, dim := range shape {
		// An empty tensor's other dimensions are bounded too: their product is asked for.
		if dim < 0 || dim > math.MaxInt || dim > 0 && bits > math.MaxInt64/dim {
			return fmt.Errorf("shape %v overflows", shape)
		}
		bits *= max(dim, 1)
		t.Shape[i] = int(dim)
	}
	if empty {
		bits = 0
	}
	if bits%8 != 0 || bits/8 != t.Size {
		return fmt.Errorf("%q values of shape %v do not take the %d bytes of data_offsets", string(t.DType), shape,
			t.Size)
	}
	return nil
}

// checkLayout sorts the tensors by their place and checks that they fill the
// size bytes of data without a gap, as the format asks.
func (f *File) checkLayout(size int64) error {
	slices.SortFunc(f.Tensors, func(a, b *Tensor) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Size, b.Size), cmp.Compare(a.Name, b.Name))
	})
	var at int64
	for _, t := range f.Tensors {
		if t.Offset != at {
			return fmt.Errorf("tensor %q begins at byte %d of the data, the one before it ends at %d: %w", t.Name,
				t.Offset, at, ErrFormat)
		}
		if t.Size > size-at {
			return fmt.Errorf("tensor %q ends at byte %d of the data, which has %d (file cut off?): %w", t.Name,
				at+t.Size, size, ErrFormat)
		}
		at += t.Size
	}
	if at != size {
		return fmt.Errorf("the tensors take %d bytes, the data has %d: %w", at, size, ErrFormat)
	}
	return nil
}

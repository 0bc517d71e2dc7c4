package gguf

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/gemwire/gemwire/quant"
)

// The limits of the format, beyond what the size of the file allows.
const (
	magic      = "GGUF"
	maxKeyLen  = 1<<16 - 1
	maxDims    = 4
	maxNesting = 4
	// What takes more memory than bytes of the file is counted: models have some dozens
	// of keys, thousands of tensors, and no arrays of arrays to speak of.
	maxKeys    = 1 << 16
	maxTensors = 1 << 18
	maxNested  = 1 << 16 // arrays in arrays, of all keys together

	defaultAlignment = 32
	maxAlignment     = 1 << 30

	keyAlignment    = "general.alignment"
	keyArchitecture = "general.architecture"
)

// The least bytes that these take in a file.
const (
	minKeyValueBytes = 8 + 1 + 4 + 1            // key, kind, value
	minTensorBytes   = 8 + 1 + 4 + 4 + 8        // name, n_dims, type, offset
	likelyTensor     = 8 + 24 + 4 + 2*8 + 4 + 8 // the same as a model has it
	likelyString     = 8 + 8                    // an array's string, before some were seen
)

// A header is what stands before the data section.
type header struct {
	version   uint32
	alignment int64
	meta      Metadata
	tensors   []*Tensor
	dataStart int64 // where tensor offsets count from
}

// readHeader reads what the format says, in its order: magic, version, counts,
// key-value pairs, tensor infos, padding.
func (c *cursor) readHeader() (*header, error) {
	h := &header{alignment: defaultAlignment}
	tensors, pairs, err := c.readPreamble(h)
	if err != nil {
		return nil, err
	}
	c.tail = int64(tensors) * likelyTensor
	if err := c.readPairs(h, pairs); err != nil {
		return nil, err
	}
	if err := c.readTensors(h, tensors); err != nil {
		return nil, err
	}
	h.dataStart = alignUp(int64(c.pos), h.alignment)
	return h, nil
}

// readPreamble reads the fixed part and returns the counts of tensors and of
// key-value pairs, checked against the size of the file.
func (c *cursor) readPreamble(h *header) (tensors, pairs uint64, err error) {
	c.where = "header"
	if c.src.Size() < int64(len(magic)) {
		return 0, 0, c.failf(0, "%d bytes are too few: %w", c.src.Size(), ErrNotGGUF)
	}
	b, err := c.take(len(magic))
	if err != nil {
		return 0, 0, err
	}
	if string(b) != magic {
		return 0, 0, c.failf(0, "starts with %q, not %q: %w", b, magic, ErrNotGGUF)
	}
	if h.version, err = c.uint32(); err != nil {
		return 0, 0, err
	}
	if err := c.checkVersion(h.version); err != nil {
		return 0, 0, err
	}
	if tensors, err = c.count("tensors", minTensorBytes, maxTensors); err != nil {
		return 0, 0, err
	}
	pairs, err = c.count("metadata keys", minKeyValueBytes, maxKeys)
	return tensors, pairs, err
}

func (c *cursor) checkVersion(version uint32) error {
	swapped := bits.ReverseBytes32(version)
	switch {
	case version == 2 || version == 3:
		return nil
	case version == 1:
		return c.failf(4, "version 1 is out of use; convert the model again: %w", ErrVersion)
	case swapped >= 1 && swapped <= 3:
		return c.failf(4, "big-endian file; convert the model for little-endian machines: %w", ErrVersion)
	}
	return c.failf(4, "version %d; versions 2 and 3 are read: %w", version, ErrVersion)
}

func (c *cursor) count(what string, width int, most uint64) (uint64, error) {
	at := c.pos
	n, err := c.uint64()
	if err != nil {
		return 0, err
	}
	if n > c.left()/uint64(width) {
		return 0, c.failf(at, "%d %s cannot lie in a file of %d bytes: %w", n, what, c.src.Size(), ErrTruncated)
	}
	if n > most {
		return 0, c.failf(at, "%d %s; at most %d are read: %w", n, what, most, ErrTooLarge)
	}
	return n, nil
}

func (c *cursor) readPairs(h *header, n uint64) error {
	for i := range n {
		if i%1024 == 0 && c.ctx.Err() != nil {
			return c.ctx.Err()
		}
		c.where = fmt.Sprintf("key %d of %d", i+1, n)
		at := c.pos
		key, err := c.key()
		if err != nil {
			return err
		}
		c.where = fmt.Sprintf("key %q", key)
		v, err := c.value()
		if err != nil {
			return err
		}
		if !h.meta.add(key, v) {
			return c.failf(at, "stands twice")
		}
	}
	return c.readAlignment(h)
}

func (c *cursor) key() (string, error) {
	at := c.pos
	n, err := c.uint64()
	if err != nil {
		return "", err
	}
	if n == 0 || n > maxKeyLen {
		return "", c.failf(at, "length %d of the name is not in 1 … %d", n, maxKeyLen)
	}
	b, err := c.take(int(n))
	return string(b), err
}

func (c *cursor) readAlignment(h *header) error {
	v, ok := h.meta.Lookup(keyAlignment)
	if !ok {
		return nil
	}
	c.where = fmt.Sprintf("key %q", keyAlignment)
	a, err := alignmentOf(v)
	if err != nil {
		return c.fail(c.pos, err)
	}
	h.alignment = a
	return nil
}

// alignmentOf checks the value of general.alignment.
func alignmentOf(v Value) (int64, error) {
	if v.kind != KindUint32 {
		return 0, fmt.Errorf("want uint32, have %v: %w", v.kind, ErrWrongType)
	}
	if bits.OnesCount64(v.num) != 1 || v.num > maxAlignment {
		return 0, fmt.Errorf("%v is not a power of two up to %d", v, maxAlignment)
	}
	return int64(v.num), nil
}

func (c *cursor) kind() (Kind, error) {
	at := c.pos
	n, err := c.uint32()
	if err != nil {
		return 0, err
	}
	if k := Kind(n); k.valid() {
		return k, nil
	}
	return 0, c.failf(at, "unknown type of value: %d", n)
}

// value reads the kind of a value and the value.
func (c *cursor) value() (Value, error) {
	k, err := c.kind()
	if err != nil {
		return Value{}, err
	}
	switch k {
	case KindString:
		s, err := c.text()
		return Value{kind: KindString, ref: s}, err
	case KindArray:
		return c.array(1)
	}
	at := c.pos
	b, err := c.take(k.width())
	if err != nil {
		return Value{}, err
	}
	if err := c.checkBools(k, b, at); err != nil {
		return Value{}, err
	}
	return Value{kind: k, num: bitsAt(b, k.width(), 0)}, nil
}

// array reads an array behind its kind; depth counts the arrays around it and itself.
func (c *cursor) array(depth int) (Value, error) {
	if depth > maxNesting {
		return Value{}, c.failf(c.pos, "arrays are nested more than %d deep", maxNesting)
	}
	elem, err := c.kind()
	if err != nil {
		return Value{}, err
	}
	n, err := c.uint64()
	if err != nil {
		return Value{}, err
	}
	v := Value{kind: KindArray, elem: elem, num: n}
	switch elem {
	case KindString:
		v.ref, err = c.strings(n)
	case KindArray:
		v.ref, err = c.arrays(n, depth)
	default:
		v.ref, err = c.numbers(elem, n)
	}
	if n == 0 {
		v.ref = nil
	}
	return v, err
}

func (c *cursor) numbers(elem Kind, n uint64) ([]byte, error) {
	at := c.pos
	if err := c.room(n, elem.width()); err != nil {
		return nil, err
	}
	b, err := c.take(int(n) * elem.width())
	if err != nil {
		return nil, err
	}
	if err := c.checkBools(elem, b, at); err != nil {
		return nil, err
	}
	return append([]byte(nil), b...), nil
}

func (c *cursor) checkBools(k Kind, b []byte, at int) error {
	if k != KindBool {
		return nil
	}
	for i, x := range b {
		if x > 1 {
			return c.failf(at+i, "%d is not a bool; 0 and 1 are", x)
		}
	}
	return nil
}

// strings walks over the strings first, to know their size, and copies them then.
func (c *cursor) strings(n uint64) (*textTable, error) {
	if err := c.room(n, 8); err != nil {
		return nil, err
	}
	start := c.pos
	for i := range n {
		if len(c.buf)-c.pos < 8 {
			if err := c.need(8, int64(n-i)*c.meanString(i, start)); err != nil {
				return nil, err
			}
		}
		size := binary.LittleEndian.Uint64(c.buf[c.pos:])
		c.pos += 8
		if size > uint64(len(c.buf)-c.pos) {
			if err := c.longString(size, int64(n-i)*c.meanString(i, start)); err != nil {
				return nil, err
			}
		}
		c.pos += int(size)
	}
	return newTextTable(c.buf[start:c.pos], int(n)), nil
}

// meanString guesses the bytes of an array's next strings after i of them were
// read from byte start on, with an eighth to spare.
func (c *cursor) meanString(i uint64, start int) int64 {
	if i < 256 {
		return likelyString
	}
	mean := int64(c.pos-start) / int64(i)
	return mean + mean/8 + 1
}

func (c *cursor) longString(size uint64, expect int64) error {
	if err := c.room(size, 1); err != nil {
		return err
	}
	return c.need(int(size), int64(size)+expect)
}

func (c *cursor) arrays(n uint64, depth int) ([]Value, error) {
	if err := c.room(n, 4+8); err != nil {
		return nil, err
	}
	if c.nested += n; c.nested > maxNested {
		return nil, c.failf(c.pos, "%d arrays in arrays; at most %d are read: %w", c.nested, maxNested, ErrTooLarge)
	}
	out := make([]Value, 0, n)
	for range n {
		v, err := c.array(depth + 1)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func (c *cursor) readTensors(h *header, n uint64) error {
	c.tail = 0
	for i := range n {
		if i%1024 == 0 && c.ctx.Err() != nil {
			return c.ctx.Err()
		}
		c.where = fmt.Sprintf("tensor %d of %d", i+1, n)
		if err := c.need(minTensorBytes, int64(n-i)*likelyTensor); err != nil {
			return err
		}
		t, err := c.tensor()
		if err != nil {
			return err
		}
		h.tensors = append(h.tensors, t)
	}
	return nil
}

// tensor reads one tensor info; its Offset still counts from the data section.
func (c *cursor) tensor() (*Tensor, error) {
	t := &Tensor{infoAt: int64(c.pos)}
	var err error
	if t.Name, err = c.key(); err != nil {
		return nil, err
	}
	c.where = fmt.Sprintf("tensor %q", t.Name)
	if t.Dims, err = c.dims(); err != nil {
		return nil, err
	}
	id, err := c.uint32()
	if err != nil {
		return nil, err
	}
	t.Type = quant.Type(id)
	at := c.pos
	off, err := c.uint64()
	if err != nil {
		return nil, err
	}
	if off > uint64(c.src.Size()) {
		return nil, c.failf(at, "offset %d lies beyond the %d bytes of the file: %w", off, c.src.Size(), ErrTruncated)
	}
	t.Offset = int64(off)
	return t, nil
}

func (c *cursor) dims() ([]uint64, error) {
	at := c.pos
	n, err := c.uint32()
	if err != nil {
		return nil, err
	}
	if n > maxDims {
		return nil, c.failf(at, "%d dimensions; at most %d are known", n, maxDims)
	}
	dims := make([]uint64, n)
	for i := range dims {
		at := c.pos
		if dims[i], err = c.uint64(); err != nil {
			return nil, err
		}
		if dims[i] == 0 {
			return nil, c.failf(at, "dimension %d is 0", i)
		}
	}
	return dims, nil
}

// alignUp rounds n up to a multiple of a, a power of two.
func alignUp(n, a int64) int64 { return (n + a - 1) &^ (a - 1) }

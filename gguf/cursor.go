package gguf

import (
	"context"
	"encoding/binary"
	"fmt"
)

const (
	firstRead        = 1 << 20
	maxAhead         = 8 // a guess may multiply what was read by this
	defaultMaxHeader = 512 << 20
	// maxHeaderLimit keeps every offset in a header within the uint32 of a textTable.
	maxHeaderLimit = 1 << 30
)

// A cursor reads the header of a file front to back. It holds all that was read
// so far and reads ahead in few, growing steps: as much as the array at hand
// still needs by what is known of it, and never less than half of what it has.
type cursor struct {
	ctx   context.Context
	src   Source
	limit int64  // bytes that a header may take: the source's size or the header limit
	buf   []byte // the file from byte 0
	pos   int    // of the next byte to decode; never beyond buf
	tail  int64  // bytes that are expected behind the array at hand
	where string // what is being decoded, for errors

	nested uint64 // arrays in arrays so far

	progress func(read, expected int64)
}

// fail makes the error for what stands at byte offset off.
func (c *cursor) fail(off int, err error) error {
	return &FormatError{Offset: int64(off), Where: c.where, Err: err}
}

func (c *cursor) failf(off int, format string, args ...any) error {
	return c.fail(off, fmt.Errorf(format, args...))
}

// left is the number of bytes from pos to the end of the source, or to the
// limit for headers.
func (c *cursor) left() uint64 { return uint64(c.limit - int64(c.pos)) }

// room checks that n items of at least width bytes each can lie ahead. It is
// what bounds every count and length.
func (c *cursor) room(n uint64, width int) error {
	if n <= c.left()/uint64(width) {
		return nil
	}
	cause := ErrTruncated
	if c.limit < c.src.Size() {
		cause = ErrTooLarge
	}
	return c.failf(c.pos, "%d × %d bytes do not fit into the %d that are left: %w", n, width, c.left(), cause)
}

// need makes n bytes at pos available in buf, and reads ahead as if expect
// would be needed.
func (c *cursor) need(n int, expect int64) error {
	if n <= len(c.buf)-c.pos {
		return nil
	}
	if err := c.room(uint64(n), 1); err != nil {
		return err
	}
	have := int64(len(c.buf))
	guess := min(expect+c.tail, maxAhead*(have+firstRead)) // counts may lie
	end := max(int64(c.pos)+max(int64(n), guess), have+have/2, firstRead)
	return c.grow(min(end, c.limit))
}

// grow reads up to byte end in one read.
func (c *cursor) grow(end int64) error {
	have := len(c.buf)
	next := make([]byte, end)
	copy(next, c.buf)
	if err := readFull(c.ctx, c.src, next[have:], int64(have)); err != nil {
		return err
	}
	c.buf = next
	if c.progress != nil {
		c.progress(end, max(end, min(end+c.tail, c.limit)))
	}
	return nil
}

// take returns the next n bytes, which stay the cursor's.
func (c *cursor) take(n int) ([]byte, error) {
	if err := c.need(n, 0); err != nil {
		return nil, err
	}
	b := c.buf[c.pos : c.pos+n]
	c.pos += n
	return b, nil
}

func (c *cursor) uint32() (uint32, error) {
	b, err := c.take(4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(b), nil
}

func (c *cursor) uint64() (uint64, error) {
	b, err := c.take(8)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint64(b), nil
}

// text reads a string: its length as a uint64, then its bytes.
func (c *cursor) text() (string, error) {
	n, err := c.uint64()
	if err != nil {
		return "", err
	}
	if err := c.room(n, 1); err != nil {
		return "", err
	}
	b, err := c.take(int(n))
	return string(b), err
}

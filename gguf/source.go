package gguf

import (
	"context"
	"fmt"
	"io"
)

// A Source is where the bytes of a file come from. [Memory], [OpenFile] and
// [OpenURL] make one; anything that reads at an offset can be another.
//
// ReadAt must be safe for concurrent use, as io.ReaderAt asks.
type Source interface {
	io.ReaderAt
	io.Closer
	// Size is the number of bytes, fixed when the source was opened.
	Size() int64
}

// A ContextReaderAt is a Source whose reads can be cancelled; [Open] uses it
// where it is there.
type ContextReaderAt interface {
	// ReadAtContext is ReadAt, ended early by ctx.
	ReadAtContext(ctx context.Context, p []byte, off int64) (int, error)
}

// Memory is a source over bytes that are in memory already. They are not
// copied and must not change.
func Memory(b []byte) Source { return &memory{b} }

// A memory is a pointer, so that sources can be compared and be keys of a map.
type memory struct{ bytes []byte }

func (m *memory) Size() int64  { return int64(len(m.bytes)) }
func (m *memory) Close() error { return nil }

func (m *memory) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off > m.Size() {
		return 0, fmt.Errorf("gguf: read at byte %d of %d: %w", off, m.Size(), io.ErrUnexpectedEOF)
	}
	n := copy(p, m.bytes[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// readFull fills p from byte off of src. An end before that is an error, also
// where a ReaderAt reports it with the last bytes.
func readFull(ctx context.Context, src Source, p []byte, off int64) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("gguf: read: %w", context.Cause(ctx))
	}
	read := src.ReadAt
	if c, ok := src.(ContextReaderAt); ok {
		read = func(p []byte, off int64) (int, error) { return c.ReadAtContext(ctx, p, off) }
	}
	n, err := read(p, off)
	if n == len(p) {
		return nil
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("gguf: read %d bytes at byte %d: %w", len(p), off, err)
}

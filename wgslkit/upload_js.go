package wgslkit

import (
	"context"
	"fmt"
	"io"
	"syscall/js"
)

// JSReader is a source of bytes that lie in JavaScript's memory: of OPFS, a
// File, or a response. Upload writes them to the GPU from there.
type JSReader interface {
	io.ReaderAt
	// ReadJS returns a Uint8Array of size bytes from offset on, all of them or
	// an error. It is read before the next call, which may use the same memory.
	ReadJS(ctx context.Context, offset, size int64) (js.Value, error)
}

func (b *Buffer) directMover(src io.ReaderAt) mover {
	reader, ok := src.(JSReader)
	backend, isJS := b.device.backend.(*jsBackend)
	if !ok || !isJS {
		return nil
	}
	return func(ctx context.Context, dstOffset, offset, n int64) error {
		if err := b.checkWrite(dstOffset, (n+3)&^3); err != nil {
			return err
		}
		bytes, err := reader.ReadJS(ctx, offset, n)
		if err != nil {
			return err
		}
		if got := bytes.Length(); int64(got) != n {
			return fmt.Errorf("%w: the source gave %d bytes for %d", io.ErrUnexpectedEOF, got, n)
		}
		handle, base := b.memory()
		return backend.writeJS(handle, base+dstOffset, bytes, n)
	}
}

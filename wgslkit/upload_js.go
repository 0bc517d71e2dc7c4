package wgslkit

import (
	"context"
	"io"
	"syscall/js"
)

// JSReader is a source of bytes that lie in JavaScript's memory: of OPFS, a
// File, or a response. Upload brings them to the GPU from there.
type JSReader interface {
	io.ReaderAt
	// ReadJS fills a Uint8Array with the bytes from offset on, all of it or an
	// error. It does not write into it any more when it has returned.
	ReadJS(ctx context.Context, offset int64, into js.Value) error
}

// Uploads of fewer bytes than smallUpload are left to the queue, which copies them
// once more. Others go in pieces of at most uploadPiece, into memory that the GPU's
// process shares: it lasts as long as uploads are held, and OPFS is read straight into it.
const (
	smallUpload = 512 << 10
	uploadPiece = 4 << 20
)

var uint8Array = js.Global().Get("Uint8Array")

func (b *Buffer) directMover(src io.ReaderAt) mover {
	reader, ok := src.(JSReader)
	backend, isJS := b.device.backend.(*jsBackend)
	if !ok || !isJS {
		return nil
	}
	return func(ctx context.Context, dstOffset, offset, n int64) (pending int64, err error) {
		if err := b.checkWrite(dstOffset, (n+3)&^3); err != nil {
			return 0, err
		}
		handle, base := b.memory()
		if n < smallUpload {
			bytes := uint8Array.New(n)
			if err := reader.ReadJS(ctx, offset, bytes); err != nil {
				return 0, err
			}
			return n, backend.writeJS(handle, base+dstOffset, bytes, n)
		}
		pieces := (n + uploadPiece - 1) / uploadPiece
		each := ((n+pieces-1)/pieces + 3) &^ 3 // alike, because each takes the time of a whole one
		for done := int64(0); done < n && err == nil; done += each {
			fill := func(memory js.Value) error { return reader.ReadJS(ctx, offset+done, memory) }
			err = backend.upload(ctx, handle, base+dstOffset+done, min(each, n-done), fill)
		}
		return 0, err
	}
}

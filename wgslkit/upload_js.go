package wgslkit

import (
	"context"
	"io"
	"syscall/js"

	"github.com/gemwire/gemwire/wgslkit/internal/backend"
	driver "github.com/gemwire/gemwire/wgslkit/internal/backend/js"
)

// JSReader is a source of bytes that lie in JavaScript's memory: of OPFS, a
// File, or a response. Upload brings them to the GPU from there.
type JSReader interface {
	io.ReaderAt
	// ReadJS fills a Uint8Array with the bytes from offset on, all of it or an
	// error. It does not write into it any more when it has returned.
	ReadJS(ctx context.Context, offset int64, into js.Value) error
}

// JSFiller is a JSReader whose reads need not wait, and so not pass through Go.
type JSFiller interface {
	JSReader
	// FillerJS is an object whose readInto(offset, memory) does as ReadJS does, for any
	// part of the size bytes from offset on. It is undefined where a read has to wait.
	FillerJS(offset, size int64) (js.Value, error)
}

// StagedUpload is how much to upload at once to a staging buffer, from which the GPU takes it.
const StagedUpload = 32 << 20

var uint8Array = js.Global().Get("Uint8Array")

func (b *Buffer) directMover(src io.ReaderAt) (move mover, chunk int64) {
	reader, ok := src.(JSReader)
	web, isJS := b.device.backend.(*driver.Backend)
	if !ok || !isJS {
		return nil, 0
	}
	u := jsUpload{buffer: b, backend: web, reader: reader}
	if u.filler, ok = src.(JSFiller); ok {
		return u.move, driver.PourChunk
	}
	return u.move, UploadChunk
}

// jsUpload moves the bytes of a reader.
type jsUpload struct {
	buffer  *Buffer
	backend *driver.Backend
	reader  JSReader
	filler  JSFiller // nil where the reader is none
}

func (u jsUpload) move(ctx context.Context, dstOffset, offset, n int64) (pending int64, err error) {
	if err := u.buffer.checkWrite(dstOffset, (n+3)&^3); err != nil {
		return 0, err
	}
	handle, base := u.buffer.memory()
	dstOffset += base
	filler := js.Undefined()
	if u.filler != nil {
		if filler, err = u.filler.FillerJS(offset, n); err != nil {
			return 0, err
		}
	}
	switch small, fills := n < driver.SmallUpload, !filler.IsUndefined(); {
	case small && fills:
		return n, u.backend.PourSmall(filler, offset, handle, dstOffset, n)
	case small:
		return n, u.small(ctx, handle, dstOffset, offset, n)
	case fills:
		return 0, u.backend.Pour(ctx, filler, offset, handle, dstOffset, n, driver.PieceOf(n))
	}
	return 0, u.pieces(ctx, handle, dstOffset, offset, n)
}

// small leaves the bytes to the queue.
func (u jsUpload) small(ctx context.Context, handle backend.Buffer, dstOffset, offset, n int64) error {
	bytes := uint8Array.New(n)
	if err := u.reader.ReadJS(ctx, offset, bytes); err != nil {
		return err
	}
	return u.backend.WriteJS(handle, dstOffset, bytes, n)
}

// pieces reads and hands over one piece after the other.
func (u jsUpload) pieces(ctx context.Context, handle backend.Buffer, dstOffset, offset, n int64) error {
	each := driver.PieceOf(n)
	for done := int64(0); done < n; done += each {
		fill := func(memory js.Value) error { return u.reader.ReadJS(ctx, offset+done, memory) }
		if err := u.backend.Upload(ctx, handle, dstOffset+done, min(each, n-done), fill); err != nil {
			return err
		}
	}
	return nil
}

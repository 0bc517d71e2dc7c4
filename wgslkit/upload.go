package wgslkit

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/gemwire/gemwire/wgslkit/internal/backend"
)

// UploadChunk is the most bytes of a streamed upload that are written at once.
// At most twice as many are in flight.
const UploadChunk = backend.UploadChunk // 8 MiB

// Upload streams size bytes of src, from its byte offset on, into the buffer
// at dstOffset, in chunks that bound what is held outside the GPU. progress,
// where given, hears the bytes done after each chunk.
//
// A src with a method ReadAtContext, like ReadAt with a context before its
// arguments, is cancelled by ctx within a chunk, others between two. In the
// browser the bytes of a JSReader do not pass through Go's memory. On a device that
// rehearses nothing is read.
func (b *Buffer) Upload(ctx context.Context, dstOffset int64, src io.ReaderAt, offset, size int64,
	progress func(done int64)) (err error) {
	if b.device.rehearses {
		return nil
	}
	end := b.device.HoldUploads()
	defer func() {
		if late := end(); err == nil && late != nil {
			err = fmt.Errorf("uploading %q: %w", b.label, late)
		}
	}()
	move, chunk := b.mover(src, size)
	for done := int64(0); done < size; {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("uploading %q: %w", b.label, err)
		}
		n := min(size-done, chunk)
		pending, err := move(ctx, dstOffset+done, offset+done, n)
		if err != nil {
			return fmt.Errorf("uploading %q: bytes %d to %d of %d: %w", b.label, done, done+n, size, err)
		}
		if err := b.device.uploaded(pending); err != nil {
			return err
		}
		done += n
		if progress != nil {
			progress(done)
		}
	}
	return nil
}

// HoldUploads keeps what uploads have in common, the memory that bytes wait in for the
// GPU to take them, from one upload to the next until end is called. Meanwhile a browser
// is not waited for: what goes wrong is told by a later call, or by end. A load of many
// buffers holds it around all of them; an upload by itself has its own.
func (d *Device) HoldUploads() (end func() error) {
	if b, ok := d.backend.(backend.UploadHolder); ok {
		return b.HoldUploads()
	}
	return func() error { return nil }
}

// Send has a browser's GPU begin with what it was asked for so far, and get ready for
// uploads of so many bytes each, in that order, while uploads are held. It would hear of
// the former when the caller waits: Send is for who has something else to do before.
func (d *Device) Send(uploads []int64) {
	if b, ok := d.backend.(backend.Batcher); ok {
		b.SendBatch(uploads)
	}
}

// uploaded counts what was written to the device. The driver holds it until work
// is submitted and done, which has to be seen to from time to time.
func (d *Device) uploaded(n int64) error {
	d.mu.Lock()
	d.unflushed += n
	due := d.unflushed >= UploadChunk
	if due {
		d.unflushed = 0
	}
	d.mu.Unlock()
	if !due {
		return nil
	}
	if b, ok := d.backend.(backend.DelayedFlusher); ok {
		return b.FlushPrevious()
	}
	return d.Flush()
}

// mover moves n bytes from src into the buffer. What is
// left of the last word becomes zero. Pending are those that nobody waits for yet.
type mover func(ctx context.Context, dstOffset, offset, n int64) (pending int64, err error)

// mover is the shortest way for src, and how much to move at once: through Go's memory
// if there is no other.
func (b *Buffer) mover(src io.ReaderAt, size int64) (move mover, most int64) {
	if move, most := b.directMover(src); move != nil {
		return move, most
	}
	read := func(_ context.Context, p []byte, offset int64) (int, error) { return src.ReadAt(p, offset) }
	if c, ok := src.(interface {
		ReadAtContext(ctx context.Context, p []byte, offset int64) (int, error)
	}); ok {
		read = c.ReadAtContext
	}
	chunk := make([]byte, (min(size, UploadChunk)+3)&^3)
	return func(ctx context.Context, dstOffset, offset, n int64) (int64, error) {
		if got, err := read(ctx, chunk[:n], offset); int64(got) < n {
			if err == nil || errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}
		padded := (n + 3) &^ 3
		clear(chunk[n:padded])
		return n, b.Write(dstOffset, chunk[:padded])
	}, UploadChunk
}

// checkWrite refuses a write that does not lie inside the buffer in whole words.
func (b *Buffer) checkWrite(offset, size int64) error {
	if handle, _ := b.memory(); handle == nil {
		return fmt.Errorf("%w: buffer", ErrReleased)
	}
	if offset < 0 || offset%4 != 0 || size%4 != 0 || offset+size > b.size {
		return fmt.Errorf("%w: write of %d bytes at %d into %q of %d bytes", ErrValidation, size, offset, b.label,
			b.size)
	}
	return nil
}

// Flush submits pending writes and waits for them, which frees their staging memory.
func (d *Device) Flush() error {
	empty, err := d.backend.NewReplay(nil)
	if err != nil {
		return err
	}
	defer d.backend.FreeReplay(empty)
	s, err := d.backend.Submit(empty, nil)
	if err != nil {
		return err
	}
	return d.backend.Wait(s)
}

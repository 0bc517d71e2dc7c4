package wgslkit

import (
	"context"
	"fmt"
	"io"
)

// UploadChunk is the most bytes of a streamed upload that are in flight at once.
const UploadChunk = 8 << 20

// Upload streams size bytes of src, from its byte offset on, into the buffer
// at dstOffset, in chunks that bound what is held outside the GPU. progress,
// where given, hears the bytes done after each chunk.
func (b *Buffer) Upload(ctx context.Context, dstOffset int64, src io.ReaderAt, offset, size int64, progress func(done int64)) error {
	chunk := make([]byte, min(size+3, UploadChunk)&^3)
	for done := int64(0); done < size; {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("uploading %q: %w", b.label, err)
		}
		n := min(size-done, int64(len(chunk)))
		if got, err := src.ReadAt(chunk[:n], offset+done); int64(got) < n {
			return fmt.Errorf("uploading %q: byte %d of %d: %w", b.label, done+int64(got), size, err)
		}
		padded := (n + 3) &^ 3
		clear(chunk[n:padded])
		if err := b.Write(dstOffset+done, chunk[:padded]); err != nil {
			return err
		}
		// The driver holds what was written until work is submitted and done.
		if err := b.device.Flush(); err != nil {
			return err
		}
		done += n
		if progress != nil {
			progress(done)
		}
	}
	return nil
}

// Flush submits pending writes and waits for them, which frees their staging memory.
func (d *Device) Flush() error {
	empty, err := d.backend.newReplay(nil)
	if err != nil {
		return err
	}
	defer d.backend.freeReplay(empty)
	s, err := d.backend.submit(empty, nil)
	if err != nil {
		return err
	}
	return d.backend.wait(s)
}

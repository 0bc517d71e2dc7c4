package ollama

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
)

// Verify reads all files of the model and checks them against their digests.
// progress, unless nil, is told the bytes that were read and those of all files.
// Damage is [ErrDigest], with the file's path.
func (m *Model) Verify(ctx context.Context, progress func(done, total int64)) error {
	v := verifier{ctx: ctx, progress: progress, buf: make([]byte, 1<<20)}
	for _, b := range m.blobs {
		v.total += b.size
	}
	for _, b := range m.blobs {
		if err := v.check(b); err != nil {
			return fmt.Errorf("ollama: model %q: %w", m.Name, err)
		}
	}
	return nil
}

type verifier struct {
	ctx         context.Context
	progress    func(done, total int64)
	done, total int64
	buf         []byte
}

func (v *verifier) check(b blob) error {
	f, err := os.Open(b.path)
	if err != nil {
		return err
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.CopyBuffer(sum, verifiedReader{v, f}, v.buf); err != nil {
		return fmt.Errorf("%s: %w", b.path, err)
	}
	if got := "sha256:" + hex.EncodeToString(sum.Sum(nil)); got != b.digest {
		return fmt.Errorf("%s has digest %s; delete it and pull the model again: %w", b.path, got, ErrDigest)
	}
	return nil
}

// A verifiedReader counts what is read and ends with the context. It hides the
// file's WriteTo, which would pass it by.
type verifiedReader struct {
	v *verifier
	r io.Reader
}

func (r verifiedReader) Read(p []byte) (int, error) {
	if err := r.v.ctx.Err(); err != nil {
		return 0, context.Cause(r.v.ctx)
	}
	n, err := r.r.Read(p)
	r.v.done += int64(n)
	if r.v.progress != nil && n > 0 {
		r.v.progress(r.v.done, r.v.total)
	}
	return n, err
}

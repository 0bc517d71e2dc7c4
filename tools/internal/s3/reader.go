package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/minio/minio-go/v7"

	"github.com/gemwire/gemwire/gguf/transfer"
)

// Reader reads an object from its beginning, in bounded requests: a reader that waits for hours between two of them
// holds no connection open. What a broken connection did not bring is asked for again, of the same version of the
// object.
type Reader struct {
	ctx      context.Context
	store    *Store
	at       Address
	size     int64
	etag     string
	offset   int64  // of what is asked for next
	chunk    []byte // what came last
	rest     []byte // what of it is unread
	failures int    // in a row
}

// mostFailures is how often in a row a connection may break before a chunk is whole.
const (
	chunkSize    = 8 << 20
	mostFailures = 5
)

// Open begins to read an object, until ctx ends.
func (s *Store) Open(ctx context.Context, at Address) (*Reader, error) {
	o, err := s.stat(ctx, at)
	if err != nil {
		return nil, err
	}
	if o == nil { // a reply without a body does not tell one from the other
		if there, err := s.core.BucketExists(ctx, at.Bucket); err == nil && !there {
			return nil, explain("reading", at, minio.ErrorResponse{Code: minio.NoSuchBucket})
		}
		return nil, explain("reading", at, minio.ErrorResponse{Code: minio.NoSuchKey})
	}
	return s.reader(ctx, at, *o), nil
}

// reader reads a version of an object.
func (s *Store) reader(ctx context.Context, at Address, o object) *Reader {
	return &Reader{ctx: ctx, store: s, at: at, size: o.size, etag: o.etag}
}

// Read reads on.
func (r *Reader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.offset == r.size {
			return 0, io.EOF
		}
		if err := r.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// next gets a chunk, or what comes of it.
func (r *Reader) next() error {
	wanted := int(min(r.size-r.offset, chunkSize))
	if cap(r.chunk) < wanted {
		r.chunk = make([]byte, wanted)
	}
	n, err := r.ask(r.chunk[:wanted])
	r.rest, r.offset = r.chunk[:n], r.offset+int64(n)
	if r.ctx.Err() != nil {
		return context.Cause(r.ctx)
	}
	if err == nil {
		r.failures = 0
		return nil
	}
	var broken *transfer.TemporaryError
	if !errors.As(err, &broken) {
		return explain("reading", r.at, err)
	}
	if r.failures++; r.failures > mostFailures {
		return fmt.Errorf("reading %v: gave up after %d tries at byte %d of %d: %w", r.at, r.failures, r.offset,
			r.size, err)
	}
	return transfer.Pause(r.ctx, transfer.Backoff(r.store.pause, r.failures-1))
}

// ask fills p with what is at the offset.
func (r *Reader) ask(p []byte) (n int, err error) {
	var o minio.GetObjectOptions
	if err := o.SetRange(r.offset, r.offset+int64(len(p))-1); err != nil {
		return 0, err
	}
	if err := o.SetMatchETag(r.etag); err != nil {
		return 0, err
	}
	dog := transfer.NewWatchdog(forObject(r.ctx), r.store.stall)
	defer dog.Stop()
	body, info, header, err := r.store.core.GetObject(dog.Context(), r.at.Bucket, r.at.Key, o)
	if err != nil {
		if err = dog.Explain(err); errors.Is(err, transfer.ErrStalled) {
			err = &transfer.TemporaryError{Err: err}
		}
		return 0, err
	}
	defer body.Close()
	if err := r.accept(info, header, len(p)); err != nil {
		return 0, err
	}
	if n, err = io.ReadFull(dog.Reader(body), p); err != nil {
		return n, &transfer.TemporaryError{Err: dog.Explain(err)}
	}
	return n, nil
}

// accept checks that a reply is the range that was asked for, of the object that was.
func (r *Reader) accept(info minio.ObjectInfo, header http.Header, length int) error {
	if info.ETag != r.etag {
		return minio.ErrorResponse{Code: minio.PreconditionFailed}
	}
	want, whole := fmt.Sprintf("bytes %d-%d/%d", r.offset, r.offset+int64(length)-1, r.size), int64(length) == r.size
	if got := header.Get("Content-Range"); !strings.EqualFold(got, want) && (got != "" || !whole) {
		return fmt.Errorf("%w: it has the range %.80q instead of %q", ErrServer, got, want)
	}
	return nil
}

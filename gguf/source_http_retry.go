//go:build !nohttp

package gguf

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

const maxPause = 30 * time.Second

// A temporaryError is a failure that another try may not meet.
type temporaryError struct {
	err   error
	after time.Duration // the server asks to wait that long
}

func (e *temporaryError) Error() string { return e.err.Error() }
func (e *temporaryError) Unwrap() error { return e.err }

// backoff is the pause after so many earlier failures in a row. It varies by
// half, so that clients that failed together do not come back together.
func backoff(first time.Duration, failures int) time.Duration {
	d := min(first<<min(failures, 16), maxPause)
	return d/2 + rand.N(d)
}

// retryAfter is what the server asks for, at most maxPause.
func retryAfter(resp *http.Response) time.Duration {
	header := resp.Header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(header, 10, 16); err == nil {
		return min(time.Duration(seconds)*time.Second, maxPause)
	}
	if at, err := http.ParseTime(header); err == nil {
		return min(time.Until(at), maxPause)
	}
	return 0
}

// pause waits, or ends with the cause of ctx.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// A watchdog cancels its context when nothing came for some time.
type watchdog struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	stall  time.Duration
}

func newWatchdog(ctx context.Context, stall time.Duration) *watchdog {
	w := &watchdog{stall: stall}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	w.timer = time.AfterFunc(stall, func() {
		w.cancel(fmt.Errorf("nothing came for %v: %w", stall, ErrStalled))
	})
	return w
}

func (w *watchdog) stop() {
	w.timer.Stop()
	w.cancel(nil)
}

// explain returns why the context ended, if it did, instead of what that led to.
func (w *watchdog) explain(err error) error {
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	return err
}

// reader passes r on and keeps the watchdog quiet as long as bytes come.
func (w *watchdog) reader(r io.Reader) io.Reader { return &watchedReader{w, r} }

type watchedReader struct {
	*watchdog
	r io.Reader
}

func (r *watchedReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if n > 0 {
		r.timer.Reset(r.stall)
	}
	return n, err
}

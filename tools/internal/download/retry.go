package download

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"time"
)

const maxPause = 30 * time.Second

// A temporaryError is one that another try may not meet.
type temporaryError struct {
	err   error
	after time.Duration // the server asks to wait that long
}

func (e *temporaryError) Error() string { return e.err.Error() }
func (e *temporaryError) Unwrap() error { return e.err }

// backoff is the pause after so many failures before this one: none after the
// first, then doubled each time and varied by half.
func backoff(first time.Duration, failures int) time.Duration {
	if failures == 0 {
		return 0
	}
	d := min(first<<min(failures-1, 16), maxPause)
	return d/2 + rand.N(d)
}

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

// watchdog ends its context when nothing came for some time.
type watchdog struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	stall  time.Duration
}

func newWatchdog(ctx context.Context, stall time.Duration) *watchdog {
	w := &watchdog{stall: stall}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	w.timer = time.AfterFunc(stall, func() { w.cancel(fmt.Errorf("the server sent nothing for %v", stall)) })
	return w
}

func (w *watchdog) stop() {
	w.timer.Stop()
	w.cancel(nil)
}

// explain is why the context ended, if it did, instead of what that led to.
func (w *watchdog) explain(err error) error {
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	return err
}

// reader passes r on and keeps the watchdog quiet while bytes come.
func (w *watchdog) reader(r io.Reader) io.Reader { return watchedReader{w, r} }

type watchedReader struct {
	*watchdog
	r io.Reader
}

func (r watchedReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if n > 0 {
		r.timer.Reset(r.stall)
	}
	return n, err
}

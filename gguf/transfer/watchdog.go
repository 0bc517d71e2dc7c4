package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// ErrStalled says that a server sent too little for too long.
var ErrStalled = errors.New("the connection stalled")

// minProgress is how many bytes have to come before a Watchdog begins to wait anew:
// a server that sends a byte now and then is as good as dead.
const minProgress = 16 << 10

// A Watchdog cancels its context where a server sends nothing, or next to nothing, for
// some time.
type Watchdog struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	stall  time.Duration
	came   int // bytes since the timer was set
}

// NewWatchdog begins to wait.
func NewWatchdog(ctx context.Context, stall time.Duration) *Watchdog {
	w := &Watchdog{stall: stall}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	w.timer = time.AfterFunc(stall, func() {
		w.cancel(fmt.Errorf("%w: the server sent less than %d KiB in %v", ErrStalled, minProgress>>10, stall))
	})
	return w
}

// Context ends when the connection counts as dead.
func (w *Watchdog) Context() context.Context { return w.ctx }

// Stop ends the waiting, and the context.
func (w *Watchdog) Stop() {
	w.timer.Stop()
	w.cancel(nil)
}

// Explain returns why the context ended, if it did, instead of what that led to.
func (w *Watchdog) Explain(err error) error {
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	return err
}

// Reader passes r on and keeps the watchdog quiet as long as bytes come. It is read by
// one goroutine.
func (w *Watchdog) Reader(r io.Reader) io.Reader { return watchedReader{w, r} }

type watchedReader struct {
	*Watchdog
	r io.Reader
}

func (r watchedReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if r.came += n; r.came >= minProgress {
		r.came = 0
		r.timer.Reset(r.stall)
	}
	return n, err
}

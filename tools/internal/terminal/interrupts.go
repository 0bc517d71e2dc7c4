package terminal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// Interrupts decides what Ctrl-C ends: the innermost context that was asked for.
type Interrupts struct {
	mu      sync.Mutex
	cancels []*context.CancelCauseFunc
	exit    func(code int)
}

// The exit statuses of a program that a signal ended: 128 and the signal's number,
// as shells have it.
const (
	ExitInterrupted = 130 // Ctrl-C
	ExitTerminated  = 143 // a request to terminate
)

// ErrTerminated is why contexts end at a request to terminate.
var ErrTerminated = fmt.Errorf("%w at a request to terminate", context.Canceled)

// ExitStatus is the exit status of a program whose context has ended.
func ExitStatus(ctx context.Context) int {
	if errors.Is(context.Cause(ctx), ErrTerminated) {
		return ExitTerminated
	}
	return ExitInterrupted
}

// NewInterrupts makes one that hears nothing until Listen.
func NewInterrupts() *Interrupts { return &Interrupts{exit: os.Exit} }

// Listen takes the process's signals until stop is called.
func (i *Interrupts) Listen() (stop func()) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case s := <-signals:
				if s == os.Interrupt {
					i.Interrupt()
				} else {
					i.Terminate()
				}
			case <-done:
				return
			}
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}

// Context is parent with an end at the next Ctrl-C, which then reaches no
// context that was made before. release gives Ctrl-C back to those.
func (i *Interrupts) Context(parent context.Context) (ctx context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(parent)
	entry := &cancel
	i.mu.Lock()
	i.cancels = append(i.cancels, entry)
	i.mu.Unlock()
	return ctx, func() {
		i.mu.Lock()
		defer i.mu.Unlock()
		for k, c := range i.cancels {
			if c == entry {
				i.cancels = append(i.cancels[:k], i.cancels[k+1:]...)
				break
			}
		}
		cancel(nil)
	}
}

// Interrupt is what Ctrl-C does: it ends the innermost context. Where none is left,
// the program ends.
func (i *Interrupts) Interrupt() {
	i.mu.Lock()
	defer i.mu.Unlock()
	n := len(i.cancels)
	if n == 0 {
		i.exit(ExitInterrupted)
		return
	}
	(*i.cancels[n-1])(context.Canceled)
	i.cancels = i.cancels[:n-1]
}

// Terminate is what a request to terminate does: it ends all contexts. Where none is
// left, the program ends.
func (i *Interrupts) Terminate() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if len(i.cancels) == 0 {
		i.exit(ExitTerminated)
		return
	}
	for _, cancel := range i.cancels {
		(*cancel)(ErrTerminated)
	}
	i.cancels = nil
}

package terminal

import (
	"context"
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

// ExitInterrupted is the exit status of a program that Ctrl-C ended.
const ExitInterrupted = 130

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
				i.Interrupt(s == os.Interrupt)
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

// Interrupt is what Ctrl-C does; innermost false ends all contexts, as a
// request to terminate does. Where none is left to end, the program ends.
func (i *Interrupts) Interrupt(innermost bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	n := len(i.cancels)
	if n == 0 {
		i.exit(ExitInterrupted)
		return
	}
	first := 0
	if innermost {
		first = n - 1
	}
	for _, cancel := range i.cancels[first:] {
		(*cancel)(context.Canceled)
	}
	i.cancels = i.cancels[:first]
}

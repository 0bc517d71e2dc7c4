package engine

import (
	"fmt"
	"sync"
)

// Level says how much a line of the log matters.
type Level int

// The levels.
const (
	Info Level = iota + 1
	Warning
)

// logging is where lines go, nowhere unless told.
type logging struct {
	mu   sync.Mutex
	sink func(Level, string)
}

// SetLog sends the log to sink, or nowhere where that is nil. Lines come on the
// goroutine of the call that they are about, and no lock is held then.
func (e *Engine) SetLog(sink func(Level, string)) {
	e.logging.mu.Lock()
	defer e.logging.mu.Unlock()
	e.logging.sink = sink
}

func (e *Engine) log(level Level, format string, values ...any) {
	e.logging.mu.Lock()
	sink := e.logging.sink
	e.logging.mu.Unlock()
	if sink != nil {
		sink(level, fmt.Sprintf(format, values...))
	}
}

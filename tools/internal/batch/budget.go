package batch

import (
	"context"
	"sync"
)

// budget bounds the bytes of what is under way. One goroutine takes.
type budget struct {
	mu    sync.Mutex
	left  int64
	freed chan struct{} // holds one where something was given back
}

func newBudget(bytes int64) *budget { return &budget{left: bytes, freed: make(chan struct{}, 1)} }

// take waits for so many bytes, or until ctx ends.
func (b *budget) take(ctx context.Context, bytes int64) error {
	for {
		b.mu.Lock()
		if b.left >= bytes {
			b.left -= bytes
			b.mu.Unlock()
			return nil
		}
		b.mu.Unlock()
		select {
		case <-b.freed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (b *budget) give(bytes int64) {
	b.mu.Lock()
	b.left += bytes
	b.mu.Unlock()
	select {
	case b.freed <- struct{}{}:
	default:
	}
}

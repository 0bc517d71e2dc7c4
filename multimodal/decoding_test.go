package multimodal

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
)

// Pictures of many conversations take the memory of one while they are decoded.
func TestDecodesOneByOne(t *testing.T) {
	m := &Media{decoding: make(chan struct{}, 1)}
	var decoding, most atomic.Int32
	prepare := func(context.Context, *chat.Part) ([]gemma4.PreparedMedium, error) {
		most.Store(max(most.Load(), decoding.Add(1)))
		defer decoding.Add(-1)
		return nil, nil
	}
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if _, err := m.oneByOne(t.Context(), &chat.Part{Type: chat.Image}, prepare); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if most.Load() != 1 {
		t.Errorf("%d were decoded at a time", most.Load())
	}

	_, err := m.oneByOne(t.Context(), &chat.Part{Type: chat.Image},
		func(context.Context, *chat.Part) ([]gemma4.PreparedMedium, error) {
			ctx, cancel := context.WithCancelCause(t.Context())
			gone := errors.New("the client left")
			cancel(gone)
			if _, err := m.oneByOne(ctx, &chat.Part{Type: chat.Audio}, prepare); !errors.Is(err, gone) {
				t.Errorf("waiting for another's turn ended with %v", err)
			}
			_, err := m.oneByOne(ctx, &chat.Part{Type: chat.Video}, prepare)
			return nil, err
		})
	if err != nil {
		t.Error(err)
	}
}

package gemma4

import (
	"context"
	"iter"
	"sync"

	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/gemma4/sample"
)

// stream is one prompt of a batch and its answer. The loop alone changes it.
type stream struct {
	ctx      context.Context
	prompt   Prompt
	piece    engine.Piece // all of the prompt, with the vectors of soft tokens
	choosing Choosing
	limit    int // tokens to choose at most
	guide    *guide
	usage    *Usage
	take     func(sample.Choice) bool // hears each choice; false where that was the last
	finish   func()                   // is called when the limit is reached
	closing  func() (int32, bool)     // says whether a thought has to end, and by which token; nil for never
	out      *deliveries

	slot     int // nowhere until its first piece is computed
	computed int // tokens of the prompt
	reused   int // of them, those that were cached
	keepAt   int // where in the prompt others begin like it: what is there then is kept; 0 for nowhere
	chosen   int
	started  bool
}

// nowhere is no slot.
const nowhere = -1

// delivery is what a stream's reader gets: an event, a choice, progress or an error, which
// is the last.
type delivery struct {
	event    Event
	choice   sample.Choice
	usage    Usage
	progress bool
	computed int // of the prompt
	total    int
	err      error
	last     bool // nothing follows
}

// deliveries are on their way from the loop to a reader, who may be slow: nobody waits for
// one. There are as many at most as an answer has tokens.
type deliveries struct {
	mu   sync.Mutex
	list []delivery
	more chan struct{}
}

func newDeliveries() *deliveries { return &deliveries{more: make(chan struct{}, 1)} }

func (q *deliveries) push(d delivery) {
	q.mu.Lock()
	q.list = append(q.list, d)
	q.mu.Unlock()
	select {
	case q.more <- struct{}{}:
	default:
	}
}

// takeAll empties the queue.
func (q *deliveries) takeAll() []delivery {
	q.mu.Lock()
	defer q.mu.Unlock()
	list := q.list
	q.list = nil
	return list
}

// deliveries gives what comes until the last; where ctx ends, its error.
func (s *stream) deliveries(ctx context.Context) iter.Seq[delivery] {
	return func(yield func(delivery) bool) {
		for {
			for _, d := range s.out.takeAll() {
				if err := ctx.Err(); err != nil && d.err == nil {
					yield(delivery{err: err})
					return
				}
				if d.last || !yield(d) {
					return
				}
			}
			select {
			case <-ctx.Done():
				yield(delivery{err: ctx.Err()})
				return
			case <-s.out.more:
			}
		}
	}
}

// Package queue lets so many work at once and the others wait their turn: clients in turn, and each client's requests
// in the order in which they came. So one client with a hundred requests keeps nobody waiting for more than one of
// them.
package queue

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// What a caller can act on.
var (
	// ErrFull: as many wait as may.
	ErrFull = errors.New("too many requests are waiting")
	// ErrClosed: nobody new is let in.
	ErrClosed = errors.New("the server is stopping")
)

// Queue hands out turns. Make one with New.
type Queue struct {
	atOnce, most int

	mu      sync.Mutex
	running int
	waiting int
	clients []*line // those with requests, the next to be served first
	closed  bool
}

// line is what one client waits for.
type line struct {
	client string
	turns  []chan struct{}
}

// New lets atOnce work at a time, and most wait.
func New(atOnce, most int) *Queue { return &Queue{atOnce: max(1, atOnce), most: max(0, most)} }

// Wait returns when it is the client's turn, with what ends it. It fails with ErrFull, with ErrClosed, or with the
// cause of an ended ctx.
func (q *Queue) Wait(ctx context.Context, client string) (done func(), err error) {
	turn, err := q.enter(client)
	if err != nil {
		return nil, err
	}
	if turn != nil {
		select {
		case <-turn:
		case <-ctx.Done():
			if q.leave(client, turn) {
				return nil, context.Cause(ctx)
			}
			<-turn // it came at the same moment
			q.next()
			return nil, context.Cause(ctx)
		}
		if q.isClosed() {
			q.next()
			return nil, ErrClosed
		}
	}
	return sync.OnceFunc(q.next), nil
}

// enter takes a turn at once, for which turn is nil, or gets into line.
func (q *Queue) enter(client string) (turn chan struct{}, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
		return nil, ErrClosed
	case q.running < q.atOnce && q.waiting == 0:
		q.running++
		return nil, nil
	case q.waiting >= q.most:
		return nil, fmt.Errorf("%w: %d are; try again later", ErrFull, q.waiting)
	}
	turn = make(chan struct{})
	q.waiting++
	for _, l := range q.clients {
		if l.client == client {
			l.turns = append(l.turns, turn)
			return turn, nil
		}
	}
	q.clients = append(q.clients, &line{client, []chan struct{}{turn}})
	return turn, nil
}

// leave gives up waiting; false where the turn has come already.
func (q *Queue) leave(client string, turn chan struct{}) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, l := range q.clients {
		if l.client != client {
			continue
		}
		for j, t := range l.turns {
			if t == turn {
				l.turns = append(l.turns[:j], l.turns[j+1:]...)
				q.waiting--
				if len(l.turns) == 0 {
					q.clients = append(q.clients[:i], q.clients[i+1:]...)
				}
				return true
			}
		}
	}
	return false
}

// next ends a turn and begins another.
func (q *Queue) next() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running--
	for len(q.clients) > 0 && q.running < q.atOnce {
		q.serveFirst()
	}
}

// serveFirst gives the first client its turn, and puts it behind the others.
func (q *Queue) serveFirst() {
	l := q.clients[0]
	q.clients = q.clients[1:]
	close(l.turns[0])
	q.running++
	q.waiting--
	if l.turns = l.turns[1:]; len(l.turns) > 0 {
		q.clients = append(q.clients, l)
	}
}

func (q *Queue) isClosed() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed
}

// Close lets nobody new in, and sends those away that wait. Who works goes on.
func (q *Queue) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for len(q.clients) > 0 {
		q.serveFirst() // they find that it is closed
	}
}

// Len is how many work, and how many wait.
func (q *Queue) Len() (running, waiting int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.running, q.waiting
}

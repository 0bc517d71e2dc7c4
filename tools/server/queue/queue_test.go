package queue

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"
)

// in starts waiting for a turn and returns once it stands in line.
func in(t *testing.T, q *Queue, client string, note func()) *sync.WaitGroup {
	t.Helper()
	_, before := q.Len()
	var w sync.WaitGroup
	w.Add(1)
	go func() {
		defer w.Done()
		done, err := q.Wait(context.Background(), client)
		if err != nil {
			t.Error(err)
			return
		}
		note()
		done()
	}()
	for {
		if _, now := q.Len(); now > before {
			return &w
		}
		time.Sleep(time.Millisecond)
	}
}

func TestClientsTakeTurns(t *testing.T) {
	q := New(1, 10)
	first, err := q.Wait(context.Background(), "a")
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	var all []*sync.WaitGroup
	for _, who := range []string{"a1", "a2", "a3", "b1", "b2", "c1"} {
		all = append(all, in(t, q, who[:1], func() { order = append(order, who) }))
	}
	first()
	for _, w := range all {
		w.Wait()
	}
	if want := []string{"a1", "b1", "c1", "a2", "b2", "a3"}; !slices.Equal(order, want) {
		t.Errorf("order %v, want %v", order, want)
	}
	if running, waiting := q.Len(); running != 0 || waiting != 0 {
		t.Errorf("%d work and %d wait in the end", running, waiting)
	}
}

func TestFullAndGivenUp(t *testing.T) {
	q := New(1, 1)
	first, _ := q.Wait(context.Background(), "a")
	ctx, cancel := context.WithCancel(context.Background())
	left := make(chan error)
	go func() {
		_, err := q.Wait(ctx, "b")
		left <- err
	}()
	for {
		if _, n := q.Len(); n == 1 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	if _, err := q.Wait(context.Background(), "c"); !errors.Is(err, ErrFull) {
		t.Errorf("a full queue: %v", err)
	}
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	first()
	first() // which counts once
	if running, waiting := q.Len(); running != 0 || waiting != 0 {
		t.Errorf("%d work and %d wait", running, waiting)
	}
}

func TestClose(t *testing.T) {
	q := New(1, 5)
	first, _ := q.Wait(context.Background(), "a")
	left := make(chan error)
	go func() {
		_, err := q.Wait(context.Background(), "b")
		left <- err
	}()
	for {
		if _, n := q.Len(); n == 1 {
			break
		}
		time.Sleep(time.Millisecond)
	}
	q.Close()
	if err := <-left; !errors.Is(err, ErrClosed) {
		t.Errorf("who waited: %v", err)
	}
	if _, err := q.Wait(context.Background(), "c"); !errors.Is(err, ErrClosed) {
		t.Errorf("who came later: %v", err)
	}
	first()
	if running, waiting := q.Len(); running != 0 || waiting != 0 {
		t.Errorf("%d work and %d wait", running, waiting)
	}
}

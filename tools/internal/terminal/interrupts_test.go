package terminal

import (
	"context"
	"testing"
)

func TestInterruptEndsTheInnermostContext(t *testing.T) {
	exits := 0
	i := NewInterrupts()
	i.exit = func(int) { exits++ }
	outer, releaseOuter := i.Context(context.Background())
	defer releaseOuter()
	inner, releaseInner := i.Context(outer)

	i.Interrupt()
	if inner.Err() == nil || outer.Err() != nil {
		t.Fatalf("inner %v, outer %v: want the inner one ended alone", inner.Err(), outer.Err())
	}
	releaseInner()
	i.Interrupt()
	if outer.Err() == nil {
		t.Error("a second Ctrl-C left the outer context alone")
	}
	if got := ExitStatus(outer); got != ExitInterrupted {
		t.Errorf("exit status %d, want %d", got, ExitInterrupted)
	}
	if exits != 0 {
		t.Errorf("%d exits while there was something to end", exits)
	}
	i.Interrupt()
	if exits != 1 {
		t.Errorf("%d exits where nothing was left to end", exits)
	}
}

func TestReleasedContextHearsNothing(t *testing.T) {
	i := NewInterrupts()
	outer, releaseOuter := i.Context(context.Background())
	defer releaseOuter()
	_, release := i.Context(outer)
	release()
	i.Interrupt()
	if outer.Err() == nil {
		t.Error("Ctrl-C went to a released context")
	}
}

func TestTerminationEndsEverything(t *testing.T) {
	i := NewInterrupts()
	outer, releaseOuter := i.Context(context.Background())
	defer releaseOuter()
	_, releaseInner := i.Context(outer)
	defer releaseInner()
	i.Terminate()
	if outer.Err() == nil {
		t.Error("the outer context goes on")
	}
	if got := ExitStatus(outer); got != ExitTerminated {
		t.Errorf("exit status %d, want %d", got, ExitTerminated)
	}
	code := 0
	i.exit = func(c int) { code = c }
	if i.Terminate(); code != ExitTerminated {
		t.Errorf("exit status %d where nothing is left to end, want %d", code, ExitTerminated)
	}
}

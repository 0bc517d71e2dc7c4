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

	i.Interrupt(true)
	if inner.Err() == nil || outer.Err() != nil {
		t.Fatalf("inner %v, outer %v: want the inner one ended alone", inner.Err(), outer.Err())
	}
	releaseInner()
	i.Interrupt(true)
	if outer.Err() == nil {
		t.Error("a second Ctrl-C left the outer context alone")
	}
	if exits != 0 {
		t.Errorf("%d exits while there was something to end", exits)
	}
	i.Interrupt(true)
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
	i.Interrupt(true)
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
	i.Interrupt(false)
	if outer.Err() == nil {
		t.Error("the outer context goes on")
	}
}

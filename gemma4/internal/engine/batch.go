package engine

import (
	"context"

	"github.com/gemwire/gemwire/gemma4/sample"
)

// BatchOptions are the sizes of a Batch.
type BatchOptions struct {
	// Streams is how many texts are computed together at most, Slots how many are held:
	// as many at least.
	Streams, Slots int
	// Context is how many tokens a text has at most.
	Context int
	// Piece bounds the tokens of a prompt that are computed at once; 0 leaves it to the device.
	Piece int
}

// Batch is what was computed of several texts, each in a slot of its own, and steps that
// choose a token for several of them at once. Its methods are called by one goroutine at a
// time.
type Batch interface {
	// Piece is how many tokens of a prompt Prefill takes at most.
	Piece() int
	// Refresh makes what follows compute with the adapters in use now, and forgets all
	// texts where those are others than before.
	Refresh() (forgotten bool, err error)
	// Len is how many positions of a slot's text are computed.
	Len(slot int) int
	// Rewind is State.Rewind for a slot.
	Rewind(slot, n int) int
	// Copy makes a slot hold the first n positions of another one's text, or as many fewer
	// as it must, and returns how many.
	Copy(to, from, n int) (int, error)
	// Prefill computes a piece of text behind what a slot holds. No choice follows: the last
	// token of a prompt is left to Step.
	Prefill(ctx context.Context, slot int, p Piece) error
	// SetBreakers is State.SetBreakers for a slot's next answer.
	SetBreakers(slot int, b sample.Breakers)
	// Start begins to choose behind history, whose last token alone is not computed yet.
	// masks, where not nil, say what each choice is among.
	Start(slot int, params sample.Params, history []int32, masks Masks) error
	// Step computes the last token of some started slots' texts, all in one pass, and chooses
	// the one behind it, which is each text's last then. One slot's fault is its Outcome's;
	// the error is of all of them. The outcomes are valid until the next call.
	//
	// A pass over the tokens that a step chooses may be under way when it returns, which the
	// next one reads. A slot that comes to it then has to wait for the one after: its Outcome
	// is Later.
	Step(ctx context.Context, turns []Turn) ([]Outcome, error)
	// Force takes tokens as chosen that nothing has to choose: all that stands before the
	// last of them is computed.
	Force(ctx context.Context, slot int, tokens []int32) error
	// Stop ends choosing for a slot, which then holds what is computed.
	Stop(slot int)
	Close()
}

// Turn is a slot's part in a step.
type Turn struct {
	Slot int
	// Last says that nothing will be chosen behind this choice.
	Last bool
}

// Outcome is what a step chose for one slot.
type Outcome struct {
	Choice sample.Choice
	Err    error
	Later  bool // nothing yet: a coming step does
}

package gemma4

import (
	"context"

	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/cpu"
	"github.com/gemwire/gemwire/gemma4/sample"
)

// engine computes one model: on the GPU (gpu.go) or on the CPU (cpu.go).
type engine interface {
	// newState makes the caches of a session of n tokens.
	newState(n int) (state, error)
	// setAdapters makes all that follows compute with these adapters alone. No
	// state is computing; what they hold is forgotten before they compute again.
	setAdapters(ctx context.Context, adapters []adapter.Weighted) error
	// attach loads an assistant for the states made from now on. There are none yet.
	attach(ctx context.Context, a *arch.Assistant, opts OpenOptions) error
	// describe fills in what Info tells about the device.
	describe(info *Info)
	close() error
}

// state is what one session has computed: caches for the first length()
// positions. Its methods are called by one goroutine at a time.
type state interface {
	length() int
	// rewind forgets all but the first n positions, or as many fewer as it
	// must to be right, and returns how many it kept.
	rewind(n int) int
	// prefill computes a piece of text behind what is there and leaves its last
	// token's logits for start. report hears the tokens done.
	prefill(ctx context.Context, p piece, report func(done int)) error
	// allLogits computes a piece of text behind what is there and hands each
	// token's logits over in turn; row is only valid during the call.
	allLogits(ctx context.Context, p piece, each func(i int, row []float32) error) error
	// start begins to choose tokens after prefill; history is every token of
	// the session so far, the prompt's last included, and limit bounds how many
	// next may be asked for.
	start(params sample.Params, history []int32, limit int) error
	// next chooses one token and takes it into the cache's view of the text:
	// the following call computes it.
	next(ctx context.Context) (sample.Choice, error)
	// verify computes the token chosen last and a draft of those after it in one
	// pass, and chooses behind each for as long as the draft was right: one token
	// at least, len(draft) + 1 at most. It is for when nothing is under way; the
	// choices are valid until the next call.
	verify(ctx context.Context, draft []int32) ([]sample.Choice, error)
	// guess asks the assistant for so many tokens behind the one chosen last. It is
	// for when verify may be called, and valid until the next call.
	guess(ctx context.Context, tokens int) ([]int32, error)
	// guessing is how many tokens verify takes at most of those wished for, and guess
	// of those wished of the assistant; a wish of 0 asks for as many as pay. It is
	// asked before an answer.
	guessing(wish, ofAssistant int) guessing
	// hold makes next hand out what is under way and begin no more, until it is
	// told otherwise; it says whether verify may be called now.
	hold(on bool) (ready bool)
	// stop ends choosing; what was computed ahead is dropped. The state then
	// holds n positions.
	stop(n int)
	// layers hands over what each layer with a cache of its own holds, in
	// order; restore takes the same for n positions into an empty state.
	layers(each func(cpu.LayerState) error) error
	restore(n int, layers []cpu.LayerState) error
	close()
}

package engine

import (
	"context"

	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/quant"
)

// Options say how an engine loads its model.
type Options struct {
	// Context is how many tokens a session holds, for the plan.
	Context int
	KVCache CacheType
	// TablesInFile leaves embedding tables that are only looked up in the file.
	TablesInFile bool
	// Batch is one that the plan leaves room for beside a session; without streams, none.
	Batch BatchOptions
	// BeforeWeights, where set, is waited for before weights are read.
	BeforeWeights func()
	// Progress, where set, hears the bytes of weights that are loaded.
	Progress func(done, total int64)
}

// Report calls Progress, where it is set.
func (o *Options) Report(done, total int64) {
	if o.Progress != nil {
		o.Progress(done, total)
	}
}

// Engine computes one model on one device.
type Engine interface {
	// DeviceName is what it computes on.
	DeviceName() string
	// Plan says where the weights lie, with the adapters that are in use now; nil
	// where nothing was planned. It may be called at any time.
	Plan() *Plan
	// NewState makes the caches of a session of n tokens.
	NewState(n int) (State, error)
	// NewBatch makes room for several texts that are computed together. It fails with
	// ErrDoesNotFit where that is more than the memory budget leaves.
	NewBatch(o BatchOptions) (Batch, error)
	// SetAdapters makes all that follows compute with these adapters alone. No
	// state is computing; what they hold is forgotten before they compute again.
	SetAdapters(ctx context.Context, adapters []adapter.Weighted) error
	// AttachAssistant loads an assistant for the states made from now on. There are
	// none yet. progress hears the bytes loaded.
	AttachAssistant(ctx context.Context, a *arch.Assistant, progress func(done, total int64)) error
	Close() error
}

// Masks say which tokens an answer may go on with.
type Masks interface {
	// After sets a bit of dst for each token that may come behind what was chosen and a
	// draft of what follows: bit t%32 of word t/32 for token t.
	After(draft []int32, dst []uint32) error
}

// MaskWords is the length of a mask for a vocabulary.
func MaskWords(vocab int) int { return (vocab + 31) / 32 }

// State is what one session has computed: caches for the first Len()
// positions. Its methods are called by one goroutine at a time.
type State interface {
	Len() int
	// Rewind forgets all but the first n positions, or as many fewer as it
	// must to be right, and returns how many it kept.
	Rewind(n int) int
	// Prefill computes a piece of text behind what is there and leaves its last
	// token's logits for Start. report hears the tokens done.
	Prefill(ctx context.Context, p Piece, report func(done int)) error
	// AllLogits computes a piece of text behind what is there and hands each
	// token's logits over in turn; row is only valid during the call.
	AllLogits(ctx context.Context, p Piece, each func(i int, row []float32) error) error
	// Start begins to choose tokens after Prefill; history is every token of
	// the session so far, the prompt's last included, and limit bounds how many
	// Next may be asked for. masks, where not nil, say what each choice is among.
	Start(params sample.Params, history []int32, limit int, masks Masks) error
	// SetBreakers says, for the answers that start after it, which token sequences no
	// repetition that DRY penalizes goes across.
	SetBreakers(b sample.Breakers)
	// Next chooses one token and takes it into the cache's view of the text:
	// the following call computes it.
	Next(ctx context.Context) (sample.Choice, error)
	// LimitDrafts says how many tokens a draft has at most, and what checking one
	// costs. It is asked before an answer: lookup and assistant are the lengths
	// asked for of drafts from the text and from the assistant, 0 for what pays.
	LimitDrafts(lookup, assistant int) DraftLimits
	// Drain makes Next hand out the steps that are under way and begin no more, until
	// it is told otherwise. It says whether Draft and Verify may be called now.
	Drain(on bool) (ready bool)
	// Draft asks the assistant for so many tokens behind the one chosen last. They
	// are valid until the next call.
	Draft(ctx context.Context, tokens int) ([]int32, error)
	// Verify computes the token chosen last and a draft of those after it in one
	// pass, and chooses behind each for as long as the draft was right: one token
	// at least, len(draft) + 1 at most. The choices are valid until the next call.
	Verify(ctx context.Context, draft []int32) ([]sample.Choice, error)
	// Force takes tokens as chosen without choosing: they are computed in one pass, and
	// the next choice is the one behind them. It is for answers with masks.
	Force(ctx context.Context, tokens []int32) error
	// Stop ends choosing; steps whose tokens nobody asked for are dropped. The state
	// then holds n positions.
	Stop(n int)
	// CacheValues is the type that the caches' values have.
	CacheValues() quant.Type
	// Layers hands over what each layer with a cache of its own holds, in
	// order; Restore takes the same for n positions into an empty state.
	Layers(each func(LayerState) error) error
	Restore(n int, layers []LayerState) error
	Close()
}

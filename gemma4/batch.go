package gemma4

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/gemma4/sample"
)

// BatchOptions say how large a Batch is. The zero value takes the defaults.
type BatchOptions struct {
	// Streams is how many answers are made at once at most, 1 to MostStreams; more wait
	// their turn. 0 is DefaultStreams.
	Streams int
	// Context is how many tokens each answer has with its prompt; 0 is the model's.
	Context int
	// Prefixes is how many texts are kept besides those of the streams, for later prompts
	// that begin like them. Each takes the memory of a stream. 0 is DefaultPrefixes,
	// NoPrefixes none: then texts are kept only where a stream is free.
	Prefixes int
	// Piece is how many tokens of a prompt are computed between two steps of those who are
	// answered already, at most; 0 leaves it to the device.
	Piece int
}

// The bounds and defaults of BatchOptions.
const (
	MostStreams     = 64
	DefaultStreams  = 8
	DefaultPrefixes = 1
	NoPrefixes      = -1
)

// mostPrefixes bounds BatchOptions.Prefixes.
const mostPrefixes = 1024

// Batch answers many prompts at once: each step computes one token for all of them, so that
// the weights are read once. Prompts come and go as they like. A new one is computed in
// pieces between the steps of the others. Each answer has its own sampling, constraint,
// limits and cancellation, and is what a Session would have answered, as far as sums of
// other orders leave it so: greedy answers are the same but at near-ties.
//
// A prompt that begins like a text that the batch holds, running or ended, is computed from
// where it differs. Texts that were used longest ago make room for new ones.
//
// All answers of a batch are computed with the adapters in use. UseAdapters fails with
// ErrBusy while there is one under way; after a change nothing of before is reused. Nothing
// is drafted: GenerateOptions.Drafts and AssistantDrafts have no effect.
//
// Its methods may be called from many goroutines. It has to be closed.
type Batch struct {
	model   *Model
	shape   *Session // of a stream; it computes nothing
	streams int
	ctx     context.Context // ends with Close
	stop    context.CancelCauseFunc
	done    chan struct{} // closed when the loop has ended
	wake    chan struct{} // says that something waits

	view    sync.Mutex
	waiting []*stream
	closed  bool
	stats   BatchStats

	loop batchLoop
}

// BatchStats is what a batch does now, and has done since it was made.
type BatchStats struct {
	Streams int `json:"streams"` // answers that there may be at once
	Context int `json:"context"` // tokens of each
	Piece   int `json:"piece"`   // tokens of a prompt between two steps
	Running int `json:"running"` // answers under way, their prompts included
	Waiting int `json:"waiting"` // prompts that nobody has begun with
	// Cached is how many tokens of texts are in the caches.
	Cached int `json:"cached"`

	Steps    int64 `json:"steps"`    // passes over the weights that chose tokens
	Chosen   int64 `json:"chosen"`   // tokens that they chose
	Prompts  int64 `json:"prompts"`  // tokens of prompts
	Computed int64 `json:"computed"` // of them, those that were not cached

	// Sizes is how many steps chose that many tokens, from 0 to Streams.
	Sizes []int64 `json:"sizes"`
}

// NewBatch makes room for answers that are made together, on a GPU all of it at once: it
// fails with ErrDoesNotFit where streams of that context are more than the memory budget
// or the device leaves, and with checkup.ErrNoVariant where a GPU has no kernels that
// compute so rightly, which are examined first. The model cannot be closed before the batch.
func (m *Model) NewBatch(o BatchOptions) (*Batch, error) {
	o, err := o.filled(m)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, fmt.Errorf("%w: model", ErrClosed)
	}
	m.adapters.using.RLock()
	defer m.adapters.using.RUnlock()
	sizes := o.engineOptions()
	if err := m.examineBatch(context.Background(), sizes, m.adapters.mix.inUse()); err != nil {
		return nil, err
	}
	made, err := m.engine.NewBatch(sizes)
	if err != nil {
		return nil, err
	}
	m.sessions++
	b := &Batch{
		model: m, shape: &Session{model: m, context: o.Context}, streams: o.Streams, done: make(chan struct{}),
		wake: make(chan struct{}, 1),
		stats: BatchStats{Streams: o.Streams, Context: o.Context, Piece: made.Piece(),
			Sizes: make([]int64, o.Streams+1)},
	}
	b.ctx, b.stop = context.WithCancelCause(context.Background())
	b.loop = batchLoop{Batch: b, engine: made, slots: make([]slot, sizes.Slots)}
	m.noteBatch(b, sizes)
	go b.loop.run()
	return b, nil
}

func (m *Model) noteBatch(b *Batch, o engine.BatchOptions) {
	m.batching.Lock()
	defer m.batching.Unlock()
	if m.batches == nil {
		m.batches = map[*Batch]engine.BatchOptions{}
	}
	m.batches[b] = o
}

func (m *Model) forgetBatch(b *Batch) {
	m.batching.Lock()
	defer m.batching.Unlock()
	delete(m.batches, b)
}

// orDefault puts the defaults in, in a model of that context. 0 prefixes are none then.
func (o BatchOptions) orDefault(context int) BatchOptions {
	switch o.Prefixes {
	case 0:
		o.Prefixes = DefaultPrefixes
	case NoPrefixes:
		o.Prefixes = 0
	}
	o.Streams, o.Context = cmp.Or(o.Streams, DefaultStreams), cmp.Or(o.Context, context)
	return o
}

// engineOptions are the sizes of options with the defaults in.
func (o BatchOptions) engineOptions() engine.BatchOptions {
	return engine.BatchOptions{Streams: o.Streams, Slots: o.Streams + o.Prefixes, Context: o.Context, Piece: o.Piece}
}

// filled checks options and puts the defaults in.
func (o BatchOptions) filled(m *Model) (BatchOptions, error) {
	o = o.orDefault(m.context)
	most := m.arch.Config.ContextLength
	switch {
	case o.Streams < 1 || o.Streams > MostStreams:
		return o, fmt.Errorf("%w: a batch of %d streams; there are 1 to %d", ErrUnsupported, o.Streams, MostStreams)
	case o.Context < 1 || o.Context > most:
		return o, fmt.Errorf("%w: streams of %d tokens; this model takes 1 to %d", ErrUnsupported, o.Context, most)
	case o.Prefixes < 0 || o.Prefixes > mostPrefixes:
		return o, fmt.Errorf("%w: %d prefixes; there are 0 to %d", ErrUnsupported, o.Prefixes, mostPrefixes)
	case o.Piece < 0:
		return o, fmt.Errorf("%w: pieces of %d tokens", ErrUnsupported, o.Piece)
	}
	return o, nil
}

// Model is the model that the batch is of.
func (b *Batch) Model() *Model { return b.model }

// Context is how many tokens each answer has with its prompt.
func (b *Batch) Context() int { return b.shape.context }

// Stats tells what the batch does.
func (b *Batch) Stats() BatchStats {
	b.view.Lock()
	defer b.view.Unlock()
	s := b.stats
	s.Waiting, s.Sizes = len(b.waiting), slices.Clone(s.Sizes)
	return s
}

// EncodeChat is the prompt that Chat computes; see Session.EncodeChat.
func (b *Batch) EncodeChat(ctx context.Context, c chat.Conversation) (Prompt, error) {
	return b.shape.EncodeChat(ctx, c)
}

// FitChat is Session.FitChat for a stream's context.
func (b *Batch) FitChat(ctx context.Context, c chat.Conversation, maxTokens int) (Fitted, error) {
	return b.shape.FitChat(ctx, c, maxTokens)
}

// Chat answers a conversation. It is like Session.Chat, but many may be under way.
func (b *Batch) Chat(ctx context.Context, c chat.Conversation, opts GenerateOptions) iter.Seq2[Event, error] {
	return b.shape.chat(ctx, c, opts, b.Generate)
}

// Generate answers a prompt, with the same events as Session.Generate. PrefillTime counts
// from the call, with the time in which the prompt waited. Leaving the loop, or cancelling
// ctx, frees the stream before the next step.
func (b *Batch) Generate(ctx context.Context, prompt Prompt, opts GenerateOptions) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		a, choosing, err := b.model.newAnswer(ctx, prompt, opts)
		if err != nil {
			yield(Event{}, err)
			return
		}
		s, leave, err := b.newStream(ctx, prompt, choosing)
		if err != nil {
			yield(Event{}, err)
			return
		}
		defer leave()
		// The loop reads the choices as an answer, so that it ends where the answer does.
		a.yield = func(e Event, _ error) bool {
			s.out.push(delivery{event: e})
			return true
		}
		s.usage, s.take, s.closing = &a.usage, a.take, a.closing
		s.finish = func() { a.emit(a.parser.Finish(chat.ReasonLength)) }
		b.enter(s)
		for d := range s.deliveries(ctx) {
			if d.progress {
				report(choosing.Prefill, d)
			} else if !yield(d.event, d.err) || d.err != nil {
				return
			}
		}
	}
}

// Choose gives the tokens that follow a prompt, as Session.Choose does.
func (b *Batch) Choose(ctx context.Context, prompt Prompt, c Choosing) iter.Seq2[sample.Choice, error] {
	return func(yield func(sample.Choice, error) bool) {
		if c.Usage == nil {
			c.Usage = &Usage{}
		}
		s, leave, err := b.newStream(ctx, prompt, c)
		if err != nil {
			yield(sample.Choice{}, err)
			return
		}
		defer leave()
		usage := *c.Usage // the loop's; the caller's follows it
		s.usage, s.finish = &usage, func() {}
		s.take = func(choice sample.Choice) bool {
			s.out.push(delivery{choice: choice, usage: usage})
			return true
		}
		b.enter(s)
		for d := range s.deliveries(ctx) {
			if d.progress {
				report(c.Prefill, d)
				continue
			}
			if d.err == nil {
				*c.Usage = d.usage
			}
			if !yield(d.choice, d.err) || d.err != nil {
				return
			}
		}
	}
}

func report(hear func(done, total int), d delivery) {
	if hear != nil {
		hear(d.computed, d.total)
	}
}

// Close ends the answers under way with ErrClosed, and frees the caches.
func (b *Batch) Close() error {
	b.view.Lock()
	if b.closed {
		b.view.Unlock()
		return fmt.Errorf("%w: batch", ErrClosed)
	}
	b.closed = true
	b.view.Unlock()
	b.stop(fmt.Errorf("%w: batch", ErrClosed))
	<-b.done
	b.model.forgetBatch(b)
	b.model.mu.Lock()
	defer b.model.mu.Unlock()
	b.model.sessions--
	return nil
}

// newStream admits a prompt. leave frees what it has taken of the batch.
func (b *Batch) newStream(ctx context.Context, prompt Prompt, c Choosing) (s *stream, leave func(), err error) {
	limit, err := b.shape.admit(prompt, c)
	if err != nil {
		return nil, nil, err
	}
	if err := b.Takes(prompt); err != nil {
		return nil, nil, err
	}
	guide, err := b.model.newGuide(c, prompt.Tokens)
	if err != nil {
		return nil, nil, err
	}
	s = &stream{choosing: c, limit: limit, guide: guide, prompt: prompt.until(len(prompt.Tokens)), slot: nowhere,
		out: newDeliveries()}
	if s.piece, err = b.shape.piece(ctx, &prompt, 0, c.Usage); err != nil {
		return nil, nil, err
	}
	s.piece.Tokens = s.prompt.Tokens
	s.ctx, leave = context.WithCancel(ctx)
	return s, leave, nil
}

// Takes says why a batch cannot answer a prompt that a session can, in an error that wraps
// ErrUnsupported; nil where it can.
func (b *Batch) Takes(prompt Prompt) error {
	for _, medium := range prompt.Media {
		switch {
		case medium.end() == len(prompt.Tokens):
			return fmt.Errorf("%w: a prompt that ends with a medium in a batch; let text follow", ErrUnsupported)
		case b.model.seenAtOnce(medium) && medium.Count > b.stats.Piece:
			return fmt.Errorf("%w: an image of %d soft tokens, which the model sees at once, in a batch that computes "+
				"%d; give it a smaller budget, or the batch a larger piece", ErrUnsupported,
				medium.Count, b.stats.Piece)
		}
	}
	return nil
}

// enter lets a stream wait for its turn.
func (b *Batch) enter(s *stream) {
	b.view.Lock()
	defer b.view.Unlock()
	if b.closed {
		s.out.push(delivery{err: fmt.Errorf("%w: batch", ErrClosed)})
		return
	}
	b.waiting = append(b.waiting, s)
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

package cpu

import (
	"context"
	"fmt"
	"slices"

	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/gemma4/sample"
)

// batch is the engine's: a cache for each slot.
type batch struct {
	model    *Model
	piece    int
	adapters int // the engine's when the caches were begun
	engine   *Engine
	slots    []batchSlot
	caches   []*Cache // of a step
	tokens   []int32  // of a step
	outcomes []engine.Outcome
}

type batchSlot struct {
	cache   *Cache
	sampler *sample.Sampler // nil while nothing is chosen
	breaks  sample.Breakers
	history []int32 // its last token is not computed
	masks   engine.Masks
	mask    []uint32
}

// piecesOfPrompts is how many tokens of a prompt are computed between two steps.
const piecesOfPrompts = 64

// NewBatch makes caches, which take memory as they fill.
func (e *Engine) NewBatch(o engine.BatchOptions) (engine.Batch, error) {
	b := &batch{model: e.model, engine: e, adapters: e.adapters, piece: piecesOfPrompts}
	if o.Piece > 0 {
		b.piece = min(o.Piece, e.model.batch)
	}
	b.slots = make([]batchSlot, o.Slots)
	for i := range b.slots {
		cache, err := e.model.NewCache(o.Context)
		if err != nil {
			return nil, err
		}
		b.slots[i].cache = cache
	}
	return b, nil
}

func (b *batch) Piece() int { return b.piece }

func (b *batch) Refresh() (bool, error) {
	if b.adapters == b.engine.adapters {
		return false, nil
	}
	b.adapters = b.engine.adapters
	for i := range b.slots {
		b.Rewind(i, 0)
	}
	return true, nil
}

func (b *batch) Len(slot int) int { return b.slots[slot].cache.Len() }

func (b *batch) Rewind(slot, n int) int {
	cache := b.slots[slot].cache
	if n < cache.Len() && cache.Truncate(n) != nil {
		_ = cache.Truncate(0) // which always succeeds
	}
	return cache.Len()
}

func (b *batch) Copy(to, from, n int) (int, error) {
	if !b.slots[from].cache.CanTruncate(n) {
		b.Rewind(to, 0)
		return 0, nil
	}
	b.slots[to].cache = b.slots[from].cache.Clone()
	return b.Rewind(to, n), nil
}

func (b *batch) Prefill(ctx context.Context, slot int, p engine.Piece) error {
	_, err := b.model.Forward(ctx, b.slots[slot].cache, inputs(&p, 0, len(p.Tokens)), Want{Logits: NoLogits})
	return err
}

func (b *batch) SetBreakers(slot int, breakers sample.Breakers) { b.slots[slot].breaks = breakers }

func (b *batch) Start(slot int, params sample.Params, history []int32, masks engine.Masks) (err error) {
	s := &b.slots[slot]
	vocab := b.model.Config().Vocab
	if s.sampler, err = sample.New(vocab, params); err != nil {
		return err
	}
	s.sampler.SetBreakers(s.breaks)
	s.history, s.masks = slices.Clone(history), masks
	if masks != nil && s.mask == nil {
		s.mask = make([]uint32, engine.MaskWords(vocab))
	}
	return err
}

func (b *batch) Step(ctx context.Context, turns []engine.Turn) ([]engine.Outcome, error) {
	b.caches, b.tokens, b.outcomes = b.caches[:0], b.tokens[:0], b.outcomes[:0]
	for _, turn := range turns {
		s := &b.slots[turn.Slot]
		if s.sampler == nil {
			return nil, fmt.Errorf("a step of slot %d, which was not started: %w", turn.Slot, ErrInput)
		}
		b.caches, b.tokens = append(b.caches, s.cache), append(b.tokens, s.history[len(s.history)-1])
	}
	logits, err := b.forward(ctx)
	if err != nil {
		return nil, err
	}
	vocab := b.model.Config().Vocab
	for i, turn := range turns {
		s := &b.slots[turn.Slot]
		choice, err := s.choose(logits[i*vocab : (i+1)*vocab])
		if err == nil {
			s.history = append(s.history, choice.Token)
		}
		b.outcomes = append(b.outcomes, engine.Outcome{Choice: choice, Err: err})
	}
	return b.outcomes, nil
}

// forward computes a step's tokens. A single one goes the way of a text alone, whose
// products take the weights as they are stored.
func (b *batch) forward(ctx context.Context) ([]float32, error) {
	if len(b.tokens) == 1 {
		return b.model.Forward(ctx, b.caches[0], Tokens(b.tokens), Want{Logits: LastLogits})
	}
	return b.model.ForwardRows(ctx, b.caches, b.tokens)
}

func (s *batchSlot) choose(logits []float32) (sample.Choice, error) {
	if s.masks != nil {
		if err := s.masks.After(nil, s.mask); err != nil {
			return sample.Choice{}, err
		}
		s.sampler.SetMask(s.mask)
	}
	return s.sampler.Sample(logits, s.history, len(s.history))
}

func (b *batch) Force(ctx context.Context, slot int, tokens []int32) error {
	s := &b.slots[slot]
	run := append([]int32{s.history[len(s.history)-1]}, tokens[:len(tokens)-1]...)
	for from := 0; from < len(run); from += b.piece {
		if err := b.Prefill(ctx, slot, engine.Piece{Tokens: run[from:min(from+b.piece, len(run))]}); err != nil {
			return err
		}
	}
	s.history = append(s.history, tokens...)
	return nil
}

func (b *batch) Stop(slot int) {
	s := &b.slots[slot]
	s.sampler, s.history, s.masks = nil, nil, nil
}

func (b *batch) Close() { b.slots = nil }

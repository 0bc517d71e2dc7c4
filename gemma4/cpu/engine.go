package cpu

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/quant"
)

// Engine is package engine's for a Model.
type Engine struct {
	file       *arch.Model
	model      *Model
	values     quant.Type // of its sessions' caches
	assistant  *Assistant // nil for none
	draftToken float64    // what the assistant's cost, in steps
	adapters   int        // how often they were changed
	weights    int64      // bytes
}

// NewEngine loads a model to be computed with on the CPU. It fails with
// engine.ErrDoesNotFit where that is more than the platform gives it.
func NewEngine(ctx context.Context, m *arch.Model, opts engine.Options) (*Engine, error) {
	options := platformOptions()
	options.CacheType, options.Progress = cacheValues(opts.KVCache), opts.Report
	if options.Whole {
		if _, err := NewPlan(m, 0, opts.KVCache); err != nil {
			return nil, err
		}
	}
	model, err := New(ctx, m, options)
	if err != nil {
		return nil, err
	}
	return &Engine{file: m, model: model, values: options.CacheType, weights: weightBytes(m)}, nil
}

// Model is what the engine computes with. It closes with the engine.
func (e *Engine) Model() *Model { return e.model }

func (e *Engine) DeviceName() string { return deviceName() }

// Plan is nil: what there is is taken.
func (e *Engine) Plan() *engine.Plan { return nil }

func (e *Engine) NewState(n int) (engine.State, error) {
	cache, err := e.model.NewCache(n)
	if err != nil {
		return nil, err
	}
	slots, _ := checkpointSlots(e.model.config, cache.context, cache.ring, e.values, e.weights)
	return &session{model: e.model, assistant: e.assistant, draftToken: e.draftToken, cache: cache, values: e.values,
		checkpoints: newCheckpoints(cache, slots)}, nil
}

func (e *Engine) AttachAssistant(ctx context.Context, a *arch.Assistant, progress func(done, total int64)) (err error) {
	options := platformOptions()
	options.Progress = progress
	e.assistant, err = NewAssistant(ctx, e.model, a, options)
	e.draftToken = engine.CPUDraftToken(a, e.file)
	return err
}

func (e *Engine) SetAdapters(_ context.Context, adapters []adapter.Weighted) error {
	e.model.SetAdapters(adapters)
	e.adapters++
	return nil
}

func (e *Engine) Close() error {
	e.model.Close()
	return nil
}

// session is the engine's state: a cache. While tokens are chosen, the last one chosen
// is pending: Next computes it before it chooses another.
type session struct {
	model    *Model
	cache    *Cache
	logits   []float32
	sampler  *sample.Sampler
	history  []int32
	pending  bool
	verified []int32         // of Verify
	choices  []sample.Choice // of Verify
	masks    engine.Masks    // nil for none
	mask     []uint32        // the latest of them

	checkpoints *checkpoints
	breakers    sample.Breakers

	values quant.Type // of the cache

	assistant  *Assistant // nil for none
	draftToken float64
	normed     []float32 // for it, the final norm's outputs of the last pass
	hidden     []float32 // of them, that from which the last token was chosen
	drafted    []int32   // of Draft
}

func (s *session) Len() int { return s.cache.Len() }

func (s *session) Rewind(n int) int {
	s.checkpoints.back(n)
	return s.cache.Len()
}

// reportEvery is how many prompt tokens go between two reports.
const reportEvery = 64

func (s *session) Prefill(ctx context.Context, p engine.Piece, report func(done int)) error {
	s.checkpoints.begin(len(p.Tokens))
	for done := 0; done < len(p.Tokens); {
		end := p.Cut(done, reportEvery)
		want := NoLogits
		if end == len(p.Tokens) {
			want = LastLogits
		}
		logits, err := s.forward(ctx, inputs(&p, done, end), want)
		if err != nil {
			return err
		}
		s.logits, done = logits, end
		report(done)
	}
	s.checkpoints.add(true)
	return nil
}

// forward runs inputs behind those in the cache, and keeps what the assistant reads.
func (s *session) forward(ctx context.Context, inputs []Input, want Logits) ([]float32, error) {
	w := Want{Logits: want}
	if s.assistant != nil {
		s.normed = s.normed[:0]
		w.Normed = func(_ int, h []float32) { s.normed = append(s.normed, h...) }
	}
	logits, err := s.model.Forward(ctx, s.cache, inputs, w)
	if d := s.model.Config().EmbeddingLength; err == nil && len(s.normed) >= d {
		s.hidden = s.normed[len(s.normed)-d:]
	}
	if err == nil && want != AllLogits { // of which some may be a draft's
		s.checkpoints.add(false)
	}
	return logits, err
}

// inputs are the positions from ≤ i < to of a piece.
func inputs(p *engine.Piece, from, to int) []Input {
	part := p.Slice(from, to)
	inputs := Tokens(part.Tokens)
	for run := range part.Soft {
		r := &part.Soft[run]
		d := len(r.Vectors) / r.Count
		for i := range r.Count {
			inputs[r.First+i] = Input{Embedding: r.Vectors[i*d : (i+1)*d]}
			if r.Mutual {
				inputs[r.First+i].Image = run + 1
			}
		}
	}
	return inputs
}

func (s *session) AllLogits(ctx context.Context, p engine.Piece, each func(i int, row []float32) error) error {
	vocab := s.model.Config().Vocab
	s.checkpoints.begin(len(p.Tokens))
	for done := 0; done < len(p.Tokens); {
		end := p.Cut(done, reportEvery)
		logits, err := s.model.Forward(ctx, s.cache, inputs(&p, done, end), Want{Logits: AllLogits})
		if err != nil {
			return err
		}
		for i := range end - done {
			if err := each(done+i, logits[i*vocab:(i+1)*vocab]); err != nil {
				return err
			}
		}
		done = end
	}
	return nil
}

func (s *session) Start(params sample.Params, history []int32, _ int, masks engine.Masks) (err error) {
	vocab := s.model.Config().Vocab
	if s.sampler, err = sample.New(vocab, params); err != nil {
		return err
	}
	s.sampler.SetBreakers(s.breakers)
	// What is appended is not the caller's.
	s.history, s.pending, s.masks = slices.Clip(history), false, masks
	if masks != nil && s.mask == nil {
		s.mask = make([]uint32, engine.MaskWords(vocab))
	}
	return err
}

func (s *session) SetBreakers(b sample.Breakers) { s.breakers = b }

// choose is the choice from the logits behind a part of a draft.
func (s *session) choose(logits []float32, draft []int32) (sample.Choice, error) {
	if s.masks != nil {
		if err := s.masks.After(draft, s.mask); err != nil {
			return sample.Choice{}, err
		}
		s.sampler.SetMask(s.mask)
	}
	return s.sampler.Sample(logits, s.history, len(s.history))
}

func (s *session) Next(ctx context.Context) (sample.Choice, error) {
	if s.pending {
		last := s.history[len(s.history)-1]
		logits, err := s.forward(ctx, Tokens([]int32{last}), LastLogits)
		if err != nil {
			return sample.Choice{}, err
		}
		s.logits = logits
	}
	choice, err := s.choose(s.logits, nil)
	if err != nil {
		return choice, err
	}
	s.history, s.pending = append(s.history, choice.Token), true
	return choice, nil
}

// longestDraft is where more tokens in one pass gain no more.
const longestDraft = 15

func (s *session) LimitDrafts(lookup, assistant int) engine.DraftLimits {
	l := engine.DraftLimits{Lookup: engine.DraftLength(lookup, longestDraft, engine.MaxDraft),
		LookupCost: engine.CPUPass}
	if s.assistant != nil {
		l.Assistant = engine.DraftLength(assistant, longestDraft, engine.MaxDraft)
		l.AssistantCost = engine.CPUPass.WithAssistant(0, s.draftToken)
	}
	return l
}

func (s *session) Drain(bool) bool { return s.pending }

func (s *session) Draft(ctx context.Context, tokens int) ([]int32, error) {
	s.drafted = slices.Grow(s.drafted[:0], tokens)[:tokens]
	return s.drafted, s.assistant.Draft(ctx, s.cache, s.history[len(s.history)-1], s.hidden, s.drafted)
}

func (s *session) Verify(ctx context.Context, draft []int32) ([]sample.Choice, error) {
	before, vocab := s.cache.Len(), s.model.Config().Vocab
	tokens := append(append(s.verified[:0], s.history[len(s.history)-1]), draft...)
	s.verified, s.choices = tokens, s.choices[:0]
	logits, err := s.forward(ctx, Tokens(tokens), AllLogits)
	if err != nil {
		return nil, err
	}
	for i := range tokens {
		choice, err := s.choose(logits[i*vocab:(i+1)*vocab], draft[:i])
		if err != nil {
			return nil, err
		}
		s.history, s.choices = append(s.history, choice.Token), append(s.choices, choice)
		if i == len(draft) || choice.Token != draft[i] {
			break
		}
	}
	if s.assistant != nil {
		d, n := s.model.Config().EmbeddingLength, len(s.choices)
		s.hidden = s.normed[(n-1)*d : n*d]
	}
	// A ring holds a window beside what one pass computes: this way back is short enough.
	err = s.cache.Truncate(before + len(s.choices))
	s.checkpoints.add(false)
	return s.choices, err
}

func (s *session) Force(ctx context.Context, tokens []int32) error {
	run := append([]int32(nil), tokens...)
	if s.pending {
		run = append([]int32{s.history[len(s.history)-1]}, run...)
	}
	// The last is left to Next, which computes it before it chooses.
	run = run[:len(run)-1]
	s.history, s.pending = append(s.history, tokens...), true
	if len(run) == 0 {
		return nil
	}
	_, err := s.forward(ctx, Tokens(run), NoLogits)
	return err
}

func (s *session) Stop(n int) {
	if s.cache.Len() > n {
		s.Rewind(n)
	}
	s.sampler, s.logits, s.masks = nil, nil, nil
}

func (s *session) CacheValues() quant.Type { return s.values }

func (s *session) Layers(each func(engine.LayerState) error) error {
	for _, l := range s.cache.State().Layers {
		if err := each(l); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) Restore(n int, layers []engine.LayerState) error {
	s.checkpoints.back(0)
	err := s.cache.Restore(State{Length: n, Layers: layers})
	if errors.Is(err, ErrInput) {
		err = fmt.Errorf("%w: %w", engine.ErrSavedSession, err)
	}
	return err
}

func (s *session) Close() {}

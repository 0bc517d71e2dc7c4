package gemma4

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/cpu"
	"github.com/gemwire/gemwire/gemma4/sample"
)

// cpuEngine computes with package cpu, in float32.
type cpuEngine struct {
	model     *cpu.Model
	assistant *cpu.Assistant // nil for none
	read      int64          // bytes of weights, for a token
	guessCost float64        // of the assistant's token, in the model's
}

func newCPUEngine(ctx context.Context, m *arch.Model, opts OpenOptions) (engine, error) {
	options := cpuOptions()
	options.CacheType = opts.KVCache.onCPU()
	if options.Whole {
		if _, err := newCPUPlan(m, 0, opts.KVCache); err != nil {
			return nil, err
		}
	}
	options.Progress = func(done, total int64) {
		opts.report(Progress{Phase: PhaseWeights, Done: done, Total: total})
	}
	model, err := cpu.New(ctx, m, options)
	if err != nil {
		return nil, err
	}
	read, _ := bytesPerToken(m)
	return &cpuEngine{model: model, read: read}, nil
}

func (e *cpuEngine) newState(n int) (state, error) {
	cache, err := e.model.NewCache(n)
	if err != nil {
		return nil, err
	}
	return &cpuState{model: e.model, assistant: e.assistant, guessCost: e.guessCost, cache: cache}, nil
}

func (e *cpuEngine) attach(ctx context.Context, a *arch.Assistant, opts OpenOptions) (err error) {
	options := cpuOptions()
	options.Progress = func(done, total int64) {
		opts.report(Progress{Phase: PhaseWeights, Done: done, Total: total})
	}
	e.assistant, err = cpu.NewAssistant(ctx, e.model, a, options)
	e.guessCost = float64(bytesPerGuess(a)) / float64(e.read)
	return err
}

func (e *cpuEngine) setAdapters(_ context.Context, adapters []adapter.Weighted) error {
	e.model.SetAdapters(adapters)
	return nil
}

func (e *cpuEngine) describe(info *Info) {
	info.Device, info.DeviceName = DeviceCPU, cpuName()
}

func (e *cpuEngine) close() error {
	e.model.Close()
	return nil
}

// cpuState is a session's cache. While tokens are chosen, the last one chosen
// is pending: next computes it before it chooses another.
type cpuState struct {
	model   *cpu.Model
	cache   *cpu.Cache
	logits  []float32
	sampler *sample.Sampler
	history []int32
	pending bool
	tried   []int32         // of verify
	choices []sample.Choice // of verify

	assistant *cpu.Assistant // nil for none
	guessCost float64
	normed    []float32 // for it, the final norm's outputs of the last pass
	hidden    []float32 // of them, that from which the last token was chosen
	guessed   []int32   // of guess
}

func (s *cpuState) length() int { return s.cache.Len() }

func (s *cpuState) rewind(n int) int {
	if s.cache.Truncate(n) != nil {
		// Going back to nothing always succeeds.
		_ = s.cache.Truncate(0)
	}
	return s.cache.Len()
}

// cpuReportEvery is how many prompt tokens go between two reports.
const cpuReportEvery = 64

func (s *cpuState) prefill(ctx context.Context, p piece, report func(done int)) error {
	for done := 0; done < len(p.tokens); {
		end := p.cut(done, cpuReportEvery)
		want := cpu.NoLogits
		if end == len(p.tokens) {
			want = cpu.LastLogits
		}
		logits, err := s.forward(ctx, p.inputs(done, end), want)
		if err != nil {
			return err
		}
		s.logits, done = logits, end
		report(done)
	}
	return nil
}

// forward runs inputs behind those in the cache, and keeps what the assistant reads.
func (s *cpuState) forward(ctx context.Context, inputs []cpu.Input, want cpu.Logits) ([]float32, error) {
	w := cpu.Want{Logits: want}
	if s.assistant != nil {
		s.normed = s.normed[:0]
		w.Normed = func(_ int, h []float32) { s.normed = append(s.normed, h...) }
	}
	logits, err := s.model.Forward(ctx, s.cache, inputs, w)
	if d := s.model.Config().EmbeddingLength; err == nil && len(s.normed) >= d {
		s.hidden = s.normed[len(s.normed)-d:]
	}
	return logits, err
}

// inputs are the positions from ≤ i < to as package cpu takes them.
func (p *piece) inputs(from, to int) []cpu.Input {
	part := p.slice(from, to)
	inputs := cpu.Tokens(part.tokens)
	for run := range part.soft {
		r := &part.soft[run]
		d := len(r.vectors) / r.count
		for i := range r.count {
			inputs[r.first+i] = cpu.Input{Embedding: r.vectors[i*d : (i+1)*d]}
			if r.mutual {
				inputs[r.first+i].Image = run + 1
			}
		}
	}
	return inputs
}

func (s *cpuState) allLogits(ctx context.Context, p piece, each func(i int, row []float32) error) error {
	vocab := s.model.Config().Vocab
	for done := 0; done < len(p.tokens); {
		end := p.cut(done, cpuReportEvery)
		logits, err := s.model.Forward(ctx, s.cache, p.inputs(done, end), cpu.Want{Logits: cpu.AllLogits})
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

func (s *cpuState) start(params sample.Params, history []int32, _ int) (err error) {
	s.sampler, err = sample.New(s.model.Config().Vocab, params)
	s.history, s.pending = history, false
	return err
}

func (s *cpuState) next(ctx context.Context) (sample.Choice, error) {
	if s.pending {
		last := s.history[len(s.history)-1]
		logits, err := s.forward(ctx, cpu.Tokens([]int32{last}), cpu.LastLogits)
		if err != nil {
			return sample.Choice{}, err
		}
		s.logits = logits
	}
	choice, err := s.sampler.Sample(s.logits, s.history, len(s.history))
	if err != nil {
		return choice, err
	}
	s.history, s.pending = append(s.history, choice.Token), true
	return choice, nil
}

// cpuLongestDraft is where more tokens in one pass gain no more.
const cpuLongestDraft = 15

// cpuPass is what a pass costs with the built-in model, whose weights do not take long
// to read: larger ones' cost less.
var cpuPass = passCost{pass: 1.2, token: 0.4}

func (s *cpuState) guessing(wish, ofAssistant int) guessing {
	g := guessing{lookup: wished(wish, cpuLongestDraft, MostDrafts), cost: cpuPass}
	if s.assistant != nil {
		g.assistant = wished(ofAssistant, cpuLongestDraft, MostDrafts)
		g.askedCost = cpuPass.asking(0, s.guessCost)
	}
	return g
}

func (s *cpuState) hold(bool) bool { return s.pending }

func (s *cpuState) guess(ctx context.Context, tokens int) ([]int32, error) {
	s.guessed = slices.Grow(s.guessed[:0], tokens)[:tokens]
	return s.guessed, s.assistant.Draft(ctx, s.cache, s.history[len(s.history)-1], s.hidden, s.guessed)
}

func (s *cpuState) verify(ctx context.Context, draft []int32) ([]sample.Choice, error) {
	before, vocab := s.cache.Len(), s.model.Config().Vocab
	tokens := append(append(s.tried[:0], s.history[len(s.history)-1]), draft...)
	s.tried, s.choices = tokens, s.choices[:0]
	logits, err := s.forward(ctx, cpu.Tokens(tokens), cpu.AllLogits)
	if err != nil {
		return nil, err
	}
	for i := range tokens {
		choice, err := s.sampler.Sample(logits[i*vocab:(i+1)*vocab], s.history, len(s.history))
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
	return s.choices, s.cache.Truncate(before + len(s.choices))
}

func (s *cpuState) stop(n int) {
	if s.cache.Len() > n {
		s.rewind(n)
	}
	s.sampler, s.logits = nil, nil
}

func (s *cpuState) layers(each func(cpu.LayerState) error) error {
	for _, l := range s.cache.State().Layers {
		if err := each(l); err != nil {
			return err
		}
	}
	return nil
}

func (s *cpuState) restore(n int, layers []cpu.LayerState) error {
	err := s.cache.Restore(cpu.State{Length: n, Layers: layers})
	if errors.Is(err, cpu.ErrInput) {
		err = fmt.Errorf("%w: %w", ErrSavedSession, err)
	}
	return err
}

func (s *cpuState) close() {}

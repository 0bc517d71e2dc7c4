package gpu

import (
	"context"

	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// Rehearse loads a model on a kit whose device rehearses, with the plan that NewEngine
// makes, and records all that text takes there: prompts, steps, drafts, the logits of
// each position, choices of a mask, soft tokens among text, and caches that are saved, all with adapters
// where there are some, and drafts of an assistant where it is not nil. Whoever listens to the kit and traces its
// device learns which kernels answer. Those of the towers are not among them.
func Rehearse(ctx context.Context, kit *ops.Kit, m *arch.Model, opts engine.Options,
	adapters []adapter.Weighted, assistant *arch.Assistant) (err error) {
	p, err := newPlanner(kit.Heard(nil), m, opts, nil)
	if err != nil {
		return err
	}
	e := &Engine{device: kit.Device(), kit: kit, model: m, cache: p.sizing.cache, plan: p.plan}
	if e.weights, err = loadWeights(ctx, kit, m, p.plan, nil, nil); err != nil {
		return err
	}
	defer e.weights.release()
	if e.adapters, err = e.makeAdapters(ctx, adapters); err != nil {
		return err
	}
	defer e.adapters.release()
	if assistant != nil {
		if e.assistant, err = e.loadAssistant(ctx, assistant, nil); err != nil {
			return err
		}
		defer e.assistant.release()
	}
	s, err := e.newState(p.sizing.context)
	if err != nil {
		return err
	}
	defer s.Close()
	return s.rehearse(ctx)
}

// rehearse records what a session makes on first use.
func (s *state) rehearse(ctx context.Context) error {
	if s.engine.assistant != nil {
		drafter, err := s.newDrafter()
		drafter.release()
		if err != nil {
			return err
		}
	}
	if err := s.startDraftReads(); err != nil {
		return err
	}
	if err := s.widenRows(0); err != nil {
		return err
	}
	for _, soft := range []int{0, 1} { // text, and text with soft tokens
		piece := engine.Piece{Tokens: make([]int32, 1), Soft: make([]engine.SoftRun, soft)}
		if _, err := s.lowerFor(&piece); err != nil {
			return err
		}
		if _, err := s.everyFor(&piece); err != nil {
			return err
		}
	}
	if err := s.rehearseMasked(); err != nil {
		return err
	}
	return s.rehearseCopies(ctx)
}

// rehearseMasked records what startMasked makes.
func (s *state) rehearseMasked() error {
	if err := s.sampler.AddMask(); err != nil {
		return err
	}
	for _, record := range []func() (*ops.Recording, error){s.recorder().chooseMasked, s.recorder().forward} {
		recorded, err := record()
		if err != nil {
			return err
		}
		recorded.Release()
	}
	return nil
}

// rehearseCopies reads and writes a position of each cache, as a saved session does.
func (s *state) rehearseCopies(ctx context.Context) error {
	for i, c := range s.caches {
		if !s.engine.model.Config.HasOwnKV(i) {
			continue
		}
		s.engine.kit.Hear(c.CacheShape, 1)
		raw, err := c.Read(ctx, 0, 1)
		if err != nil {
			return err
		}
		if err := c.Write(ctx, 0, raw); err != nil {
			return err
		}
	}
	return nil
}

package gpu

import (
	"context"
	"errors"

	"github.com/gemwire/gemwire/wgslkit"
)

// dryRun counts what the weights and a session take: it loads the one and records
// the other on a device where nothing is made, so that there is no second account of
// what either needs.
func (p *planner) dryRun() error {
	device := p.kit.Device().Rehearse()
	e := &Engine{device: device, kit: p.kit.On(device), model: p.model, cache: p.sizing.cache, plan: p.plan}
	p.plan.Chunk, p.plan.Adapters = p.sizing.chunk, p.adapters.bytes(p.kit, p.sizing)
	err := p.count(e)
	return errors.Join(err, e.Close())
}

func (p *planner) count(e *Engine) (err error) {
	if e.weights, err = loadWeights(context.Background(), e.kit, e.model, e.plan, nil, nil); err != nil {
		return err
	}
	p.planCheckpoints(e.device.Memory()[wgslkit.Weights])
	s, err := e.newState(p.sizing.context)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.startPipelineReads(); err != nil {
		return err
	}
	p.kernels = e.device.Wanted()
	taken := e.device.Memory()
	p.plan.Checkpoints = s.checkpoints.bytes()
	p.plan.Weights, p.plan.Cache = taken[wgslkit.Weights], taken[wgslkit.Cache]-p.plan.Checkpoints
	p.plan.Activations = workIn(taken)
	if err := s.startDraftReads(); err != nil {
		return err
	}
	p.plan.Drafts = workIn(e.device.Memory()) - p.plan.Activations
	return p.countBatch(e)
}

// countBatch counts the batch that is to be made beside a session.
func (p *planner) countBatch(e *Engine) error {
	if p.batch.Streams == 0 {
		return nil
	}
	before := e.inUse()
	b, err := e.newBatch(p.batch)
	if err != nil {
		return err
	}
	defer b.Close()
	p.plan.Batch = e.inUse() - before
	return nil
}

// workIn is what a session takes beside its caches.
func workIn(taken map[wgslkit.Purpose]int64) int64 {
	return taken[wgslkit.Activations] + taken[wgslkit.Parameters] + taken[wgslkit.Staging]
}

// startDraftReads makes what a pass over usual drafts takes, where there are any, and begins
// to read what is chosen in it, for which no other reads are under way.
func (s *state) startDraftReads() (err error) {
	n := s.LimitDrafts(0, 0).Lookup
	if n == 0 {
		return nil
	}
	if s.verifier, err = s.newVerifier(); err != nil {
		return err
	}
	return s.startReads(n + 1)
}

// startPipelineReads begins as many reads as there are under way while tokens are chosen.
func (s *state) startPipelineReads() error {
	if s.rowByRow {
		return s.startReads(1)
	}
	return s.startReads(s.deepest)
}

// startReads begins reads of what is chosen until n of them are under way.
func (s *state) startReads(n int) error {
	for len(s.inFlight) < n {
		read, err := s.sampler.StartRead(len(s.inFlight))
		if err != nil {
			return err
		}
		s.inFlight = append(s.inFlight, read)
	}
	return nil
}

package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gemwire/gemwire/finetune"
	"github.com/gemwire/gemwire/finetune/dataset"
	"github.com/gemwire/gemwire/finetune/optimizer"
	"github.com/gemwire/gemwire/finetune/schedule"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gguf"
)

// errTraining says that something is under way that can be there once.
var errTraining = errors.New("training already")

// mostRehearsed bounds the conversations that a model makes up.
const mostRehearsed = 10_000

// autoPrecision is the word for what finetune.Config leaves empty.
const autoPrecision = "auto"

// prepareTraining reads the data and makes a run of it: a new one, or one that goes
// on from its checkpoint.
func (c *call) prepareTraining(ctx context.Context, m *openModel, p PrepareParams) (any, error) {
	config, err := p.check()
	if err != nil {
		return nil, err
	}
	if !m.training.CompareAndSwap(false, true) {
		return nil, fmt.Errorf("%w: close the model's other training run first", errTraining)
	}
	r, err := c.prepare(ctx, m, p, config)
	if err != nil {
		m.training.Store(false)
		return nil, err
	}
	c.engine.addRun(r)
	return r.describe(), nil
}

// check makes a run's settings of the request's.
func (p *PrepareParams) check() (finetune.Config, error) {
	if err := p.Data.check(); err != nil {
		return finetune.Config{}, err
	}
	if h := p.HeldOut; h != nil && !(*h >= 0 && *h < 1) {
		return finetune.Config{}, fmt.Errorf("%w: heldOut is %v, wanted a part from 0 to 1", errArgument, *h)
	}
	return p.Settings.config()
}

func (s *TrainingSettings) config() (finetune.Config, error) {
	c := finetune.Config{
		Rank: s.Rank, Alpha: s.Alpha, Layers: s.Layers, Epochs: s.Epochs, Steps: s.Steps,
		Batching: dataset.Batching{Tokens: s.BatchTokens, Examples: s.BatchExamples}, Accumulate: s.Accumulate,
		Schedule: schedule.Schedule{Kind: schedule.Kind(s.Schedule), Peak: s.LearningRate, Floor: s.MinLearningRate,
			Warmup: s.Warmup, Cycles: s.Restarts},
		Seed: s.Seed, EvaluateEvery: s.EvaluateEvery, Patience: s.Patience, Recompute: s.Recompute,
		Precision: s.Precision, MemoryBudget: s.MemoryBudget,
	}
	if c.Precision == autoPrecision {
		c.Precision = ""
	}
	if s.Keep < -1 || s.Keep > mostRehearsed {
		return c, fmt.Errorf("%w: keep is %d, wanted up to %d conversations, or -1", errArgument, s.Keep, mostRehearsed)
	}
	if s.Epochs > 0 && s.Steps > 0 {
		return c, fmt.Errorf("%w: epochs and steps say the same thing; give one", errArgument)
	}
	if s.BatchTokens < 0 || s.BatchExamples < 0 {
		return c, fmt.Errorf("%w: batches of %d tokens and %d examples", errArgument, s.BatchTokens, s.BatchExamples)
	}
	o := optimizer.Default()
	set(&o.Decay, s.WeightDecay)
	set(&o.Clip, s.Clip)
	if !(o.Decay >= 0 && o.Clip >= 0) || math.IsInf(o.Decay+o.Clip, 0) {
		return c, fmt.Errorf("%w: a weightDecay of %v and a clip of %v", errArgument, o.Decay, o.Clip)
	}
	c.Optimizer = &o
	if part := s.WordDropout; part != nil {
		if !(*part >= 0) {
			return c, fmt.Errorf("%w: a wordDropout of %v, wanted a part from 0 to 1", errArgument, *part)
		}
		if c.WordDropout = *part; *part == 0 {
			c.WordDropout = finetune.NoWordDropout
		}
	}
	for _, name := range s.Targets {
		l, err := adapter.ParseLinear(name)
		if err != nil {
			return c, fmt.Errorf("%w: targets: %v", errArgument, err)
		}
		c.Linears = append(c.Linears, l)
	}
	return c, nil
}

// settingsOf are a run's settings, defaults filled in.
func settingsOf(c finetune.Config) TrainingSettings {
	words := max(c.WordDropout, 0)
	s := TrainingSettings{
		Rank: c.Rank, Alpha: c.Alpha, Layers: c.Layers, Epochs: c.Epochs, Steps: c.Steps,
		BatchExamples: c.Batching.Examples, BatchTokens: c.Batching.Tokens, Accumulate: c.Accumulate,
		LearningRate: c.Schedule.Peak, MinLearningRate: c.Schedule.Floor, Schedule: string(c.Schedule.Kind),
		Warmup: c.Schedule.Warmup, Restarts: c.Schedule.Cycles,
		WeightDecay: &c.Optimizer.Decay, Clip: &c.Optimizer.Clip,
		WordDropout: &words, Seed: c.Seed, EvaluateEvery: c.EvaluateEvery, Patience: c.Patience, Recompute: c.Recompute,
		Precision: cmp.Or(c.Precision, autoPrecision), MemoryBudget: c.MemoryBudget,
	}
	for _, l := range c.Linears {
		s.Targets = append(s.Targets, l.Short())
	}
	return s
}

func (c *call) prepare(ctx context.Context, m *openModel, p PrepareParams, config finetune.Config) (*openRun, error) {
	sources := c.takeSources()
	defer closeAll(sources)
	e, err := c.split(ctx, m, p)
	if err != nil {
		return nil, err
	}
	r := &openRun{model: m, examples: e, turn: make(chan struct{}, 1), gone: make(chan struct{})}
	data := finetune.Data{Train: e.train, HeldOut: e.held}
	if p.Resume {
		err = r.resume(ctx, data, sources)
	} else {
		r.rehearse = p.Settings.Keep
		r.trainer, err = finetune.New(ctx, m.Model, data, config)
	}
	if err != nil {
		return nil, err
	}
	if err := context.Cause(ctx); err != nil {
		return nil, errors.Join(err, r.trainer.Close())
	}
	r.turn <- struct{}{}
	return r, nil
}

// split makes examples of the request's binaries, and holds some out.
func (c *call) split(ctx context.Context, m *openModel, p PrepareParams) (*examples, error) {
	files := 1
	if p.HeldOutData {
		files = 2
	}
	if len(c.binaries) < files {
		return nil, fmt.Errorf("%w: %s with %d binaries", errProtocol, c.Op, len(c.binaries))
	}
	set, err := c.load(ctx, m, c.binaries[0], p.Data, p.Media, c.binaries[files:])
	if err != nil {
		return nil, err
	}
	e := &examples{bad: set.Bad}
	if p.HeldOutData {
		other, err := c.load(ctx, m, c.binaries[1], p.Data, nil, nil)
		if err != nil {
			return nil, fmt.Errorf("held out: %w", err)
		}
		e.train, e.held, e.apart = set.Whole(), other.Whole(), true
		return e, nil
	}
	part := finetune.DefaultHeldOut(len(set.Records))
	if p.HeldOut != nil {
		part = *p.HeldOut
	}
	train, held := dataset.HoldOut(len(set.Records), part)
	e.train, e.held = set.All(train), set.All(held)
	return e, nil
}

// resume goes on from a checkpoint and, where there is one, the best adapter.
func (r *openRun) resume(ctx context.Context, data finetune.Data, sources []gguf.Source) (err error) {
	if len(sources) < 1 || len(sources) > 2 {
		return fmt.Errorf("%w: a checkpoint in %d files", errProtocol, len(sources))
	}
	if len(sources) == 2 {
		if r.best, err = readOne(ctx, sources[1]); err != nil {
			return err
		}
	}
	r.trainer, err = finetune.Resume(ctx, r.model.Model, data, sources[0], sources[0].Size())
	return err
}

func set[T any](to *T, value *T) {
	if value != nil {
		*to = *value
	}
}

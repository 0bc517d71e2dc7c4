package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/gemwire/gemwire/finetune"
	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/adapter"
)

// openRun is a training run with a number.
type openRun struct {
	id       int
	model    *openModel
	trainer  *finetune.Trainer
	examples *examples

	// turn holds one token, which whoever uses the trainer or the fields below
	// takes: between steps, whoever waits has it first. gone is closed when nobody
	// will have it any more.
	turn chan struct{}
	gone chan struct{}
	best *adapter.Adapter // with a patience: the one that judged best
	held *float64         // its loss, where that is known
	loss float64          // of the last step
	// rehearse is how many conversations are still to be made up, as in
	// TrainingSettings.
	rehearse int

	pausing atomic.Bool // the next step is not made
	mu      sync.Mutex
	stop    context.CancelCauseFunc // of the steps under way
	done    chan struct{}           // closed when those have ended
	closed  bool
}

func (r *openRun) take(ctx context.Context) error {
	select {
	case <-r.turn:
		return nil
	case <-r.gone:
		return fmt.Errorf("%w: training run", gemma4.ErrClosed)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (r *openRun) give() { r.turn <- struct{}{} }

func (e *Engine) addRun(r *openRun) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r.id = e.number()
	e.runs[r.id] = r
}

// runOf finds a run.
func (e *Engine) runOf(id int) (*openRun, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r, ok := e.runs[id]
	if !ok {
		return nil, fmt.Errorf("%w: training run", gemma4.ErrClosed)
	}
	return r, nil
}

// ofRun are parameters that name a run.
type ofRun interface{ run() int }

func (p RunParams) run() int        { return p.Run }
func (p ShowParams) run() int       { return p.Run }
func (p TrainParams) run() int      { return p.Run }
func (p PauseParams) run() int      { return p.Run }
func (p RunAdapterParams) run() int { return p.Run }
func (p UseRunParams) run() int     { return p.Run }

// onRun handles a request by f, with its parameters and the run that they name.
func onRun[P ofRun](c *call, f func(context.Context, *openRun, P) (any, error)) func(context.Context) (any, error) {
	return func(ctx context.Context) (any, error) {
		p, err := params[P](c)
		if err != nil {
			return nil, err
		}
		r, err := c.engine.runOf(p.run())
		if err != nil {
			return nil, err
		}
		return f(ctx, r, p)
	}
}

func (r *openRun) describe() PrepareResult {
	result := PrepareResult{
		Run: r.id, Step: r.trainer.Done(), Plan: r.plan(), Report: r.examples.report(),
		Settings: settingsOf(r.trainer.Config()),
	}
	result.Settings.Keep = cmp.Or(r.rehearse, result.Plan.Rehearsed)
	return result
}

func (r *openRun) plan() TrainingPlan {
	config, plan, layers := r.trainer.Config(), r.trainer.Plan(), r.model.Info().Layers
	out := TrainingPlan{
		Steps: plan.Steps, Warmup: config.Schedule.Warmup, Parameters: plan.Parameters, Bytes: plan.Bytes,
		Layers: layers, Saved: layers - plan.Recomputed, Recomputed: plan.Recomputed, Halves: plan.Halves,
		Rehearsed: plan.Rehearsed,
	}
	if config.Steps == 0 {
		out.Epochs = config.Epochs
	}
	return out
}

func (c *call) showRun(_ context.Context, r *openRun, p ShowParams) (any, error) {
	shown, err := r.examples.show(r.model, p.First, p.Count)
	return ShowResult{Examples: shown}, err
}

// errPause ends steps as their caller wished.
var errPause = errors.New("paused")

func (c *call) train(ctx context.Context, r *openRun, p TrainParams) (any, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	end, err := r.begin(stop)
	if err != nil {
		return nil, err
	}
	defer end()
	if err := r.take(ctx); err != nil {
		return nil, err
	}
	defer r.give()
	state, err := c.steps(ctx, r, p.Steps)
	if err != nil {
		return nil, err
	}
	return TrainResult{State: state, Step: r.trainer.Done(), Loss: r.loss, BestHeldOutLoss: r.held,
		UsesBest: r.best != nil}, nil
}

// begin notes how the steps that begin are stopped.
func (r *openRun) begin(stop context.CancelCauseFunc) (end func(), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed:
		return nil, fmt.Errorf("%w: training run", gemma4.ErrClosed)
	case r.stop != nil:
		return nil, fmt.Errorf("%w: pause the run first", errTraining)
	}
	done := make(chan struct{})
	r.stop, r.done = stop, done
	return func() {
		r.mu.Lock()
		r.stop, r.done = nil, nil
		r.mu.Unlock()
		close(done)
	}, nil
}

// steps makes so many steps, or all. It has the turn.
func (c *call) steps(ctx context.Context, r *openRun, most int) (TrainState, error) {
	if r.pausing.CompareAndSwap(true, false) {
		return TrainPaused, nil
	}
	if err := c.rehearse(ctx, r); err != nil {
		if errors.Is(context.Cause(ctx), errPause) {
			r.pausing.Store(false)
			return TrainPaused, nil
		}
		return "", err
	}
	made, early := 0, false
	for event, err := range r.trainer.Run(ctx) {
		if errors.Is(context.Cause(ctx), errPause) && err != nil {
			r.pausing.Store(false)
			return TrainPaused, nil
		}
		if err != nil {
			return "", err
		}
		if err := r.note(ctx, event); err != nil {
			return "", err
		}
		c.event(r.stepEvent(event))
		made, early = made+1, event.Stopped
		if event.Step == event.Steps || early {
			break
		}
		if r.pausing.CompareAndSwap(true, false) {
			return TrainPaused, nil
		}
		if made == most {
			return TrainSteps, nil
		}
		r.give()
		<-r.turn // nobody closes the run before the steps have ended
	}
	if early || r.trainer.Done() < r.trainer.Config().Schedule.Steps {
		return TrainEarly, nil
	}
	return TrainFinished, nil
}

// rehearse lets the model make up what the run holds it to, and plans the run anew
// with that. It has the turn.
func (c *call) rehearse(ctx context.Context, r *openRun) error {
	if r.rehearse == 0 {
		return nil
	}
	kept, err := finetune.Rehearse(ctx, r.model.Model, finetune.Rehearsal{
		Conversations: max(r.rehearse, 0), Seed: r.trainer.Config().Seed,
		Progress: func(done, total int) {
			if r.pausing.Load() {
				r.interrupt()
			}
			c.event(RehearsalEvent{Type: "rehearsal", Done: done, Total: total})
		},
	})
	if err != nil {
		return err
	}
	data := finetune.Data{Train: r.examples.train, HeldOut: r.examples.held, Rehearsed: kept}
	trainer, err := finetune.New(ctx, r.model.Model, data, r.trainer.Config())
	if err != nil {
		return err
	}
	err = r.trainer.Close()
	r.trainer, r.rehearse = trainer, 0
	plan := r.plan()
	c.event(RehearsalEvent{Type: "rehearsal", Done: len(kept), Total: len(kept), Plan: &plan})
	return err
}

// note keeps what a step has brought.
func (r *openRun) note(ctx context.Context, e finetune.Event) (err error) {
	r.loss = e.Loss
	if !e.Best {
		return nil
	}
	r.held = e.HeldOutLoss
	if r.trainer.Config().Patience > 0 {
		r.best, err = r.trainer.Adapter(ctx)
	}
	return err
}

func (r *openRun) stepEvent(e finetune.Event) StepEvent {
	out := StepEvent{
		Type: "step", Step: e.Step, Steps: e.Steps, Epoch: e.Epoch, Loss: e.Loss, LearningRate: e.Rate,
		GradientNorm: e.Length,
		Tokens:       e.Tokens, Milliseconds: milliseconds(e.Time), SecondsLeft: e.Remaining.Seconds(),
		MemoryBytes: r.model.holds(),
		HeldOutLoss: e.HeldOutLoss, Best: e.Best, Divergence: e.Divergence,
	}
	if e.Time > 0 {
		out.TokensPerSecond = float64(e.Tokens) / e.Time.Seconds()
	}
	return out
}

// holds is what the model, and what computes with it, hold: of the GPU, or of
// WebAssembly's memory.
func (m *openModel) holds() (n int64) {
	used := m.GPUMemory()
	if used == nil {
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return int64(stats.Sys)
	}
	for _, bytes := range used {
		n += bytes
	}
	return n
}

func (c *call) pauseTraining(_ context.Context, r *openRun, p PauseParams) (any, error) {
	r.pausing.Store(true)
	if p.Now {
		r.interrupt()
	}
	return Nothing{}, nil
}

// interrupt ends the steps under way; done is closed when they have ended, nil
// where there are none.
func (r *openRun) interrupt() (done chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stop != nil {
		r.stop(errPause)
	}
	return r.done
}

// adapter is a run's best adapter where there is one, or its last. It has the turn.
func (r *openRun) adapter(ctx context.Context, which Which) (*adapter.Adapter, error) {
	switch which {
	case "", WhichBest, WhichLast:
	default:
		return nil, fmt.Errorf("%w: which is %q; there are %q and %q", errArgument, which, WhichBest, WhichLast)
	}
	if r.best != nil && which != WhichLast {
		return r.best, nil
	}
	return r.trainer.Adapter(ctx)
}

func (c *call) runAdapter(ctx context.Context, r *openRun, p RunAdapterParams) (any, error) {
	if err := p.Format.check(); err != nil {
		return nil, err
	}
	if err := r.take(ctx); err != nil {
		return nil, err
	}
	a, err := r.adapter(ctx, p.Which)
	r.give()
	if err != nil {
		return nil, err
	}
	return Nothing{}, c.writeAdapter(a, p.Format, p.Name)
}

func (c *call) useRun(ctx context.Context, r *openRun, p UseRunParams) (any, error) {
	if p.Name == "" {
		return nil, fmt.Errorf("%w: an adapter without a name", errArgument)
	}
	if err := r.take(ctx); err != nil {
		return nil, err
	}
	a, err := r.adapter(ctx, p.Which)
	r.give()
	if err != nil {
		return nil, err
	}
	if err := r.model.swapAdapter(ctx, p.Name, a, weightOf(p.Weight)); err != nil {
		return nil, err
	}
	return r.model.adapterList(), nil
}

// The files of a checkpoint.
const (
	checkpointFile = "checkpoint.safetensors"
	bestName       = "best"
)

// checkpoint hands over all that a run needs to go on: its own file, and the best
// adapter, where there is one, before it.
func (c *call) checkpoint(ctx context.Context, r *openRun, _ RunParams) (any, error) {
	if err := r.take(ctx); err != nil {
		return nil, err
	}
	defer r.give()
	if r.best != nil {
		if err := c.writeAdapter(r.best, FormatGGUF, bestName); err != nil {
			return nil, err
		}
	}
	err := c.writeFile(checkpointFile, func(w io.Writer) error { return r.trainer.WriteCheckpoint(ctx, w) })
	return CheckpointResult{Step: r.trainer.Done()}, err
}

func (c *call) endTraining(_ context.Context, r *openRun, _ RunParams) (any, error) {
	return Nothing{}, c.engine.endRun(r)
}

// endRun ends the steps under way and frees what the run holds.
func (e *Engine) endRun(r *openRun) error {
	e.mu.Lock()
	delete(e.runs, r.id)
	e.mu.Unlock()
	r.mu.Lock()
	already := r.closed
	r.closed = true
	r.mu.Unlock()
	if already {
		return nil
	}
	if done := r.interrupt(); done != nil {
		<-done
	}
	<-r.turn // after whoever has it at the moment
	close(r.gone)
	defer r.model.training.Store(false)
	return r.trainer.Close()
}

// endRuns ends the runs of a model.
func (e *Engine) endRuns(m *openModel) error {
	e.mu.Lock()
	var list []*openRun
	for _, r := range e.runs {
		if r.model == m {
			list = append(list, r)
		}
	}
	e.mu.Unlock()
	var err error
	for _, r := range list {
		err = errors.Join(err, e.endRun(r))
	}
	return err
}

package finetune

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"time"

	"github.com/gemwire/gemwire/finetune/dataset"
	"github.com/gemwire/gemwire/finetune/optimizer"
	"github.com/gemwire/gemwire/finetune/tape"
	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gemma4/arch"
)

// Data are the examples of a run.
type Data struct {
	Train []dataset.Example
	// HeldOut are to judge by, not to learn from; may be empty.
	HeldOut []dataset.Example
	// Rehearsed are what the model is held to meanwhile, such as Rehearse makes; may be
	// empty. Each step takes a batch of them besides.
	Rehearsed []dataset.Example
}

// Trainer is a training run. It is used by one goroutine at a time and has to be
// closed, the model after it.
type Trainer struct {
	config    Config
	base      *gemma4.Model
	release   func() // of base
	model     *arch.Model
	tape      *tape.Tape
	engine    engine
	data      Data
	order     *order
	rehearsed *order // of data.Rehearsed, nil where there are none
	words     *dropout

	done    int // steps
	best    float64
	worse   int // looks in a row that were no better than best
	stopped bool
}

// Plan is what a run will take, known before its first step.
type Plan struct {
	Steps      int   `json:"steps"`
	Examples   int   `json:"examples"`
	Rehearsed  int   `json:"rehearsed"`  // examples that the model is held to
	Tokens     int64 `json:"tokens"`     // of an epoch
	Targets    int64 `json:"targets"`    // of an epoch
	Parameters int64 `json:"parameters"` // of the adapter
	Bytes      int64 `json:"bytes"`      // beside the weights, at most
	Recomputed int   `json:"recomputed"` // layers that are computed again for the way back
	Halves     bool  `json:"halves"`     // values wait for it as halves
}

// New prepares a run. The adapter begins as LoRA does: A at random from the seed,
// B at zero, so that the model is what it was.
func New(ctx context.Context, model *gemma4.Model, data Data, config Config) (*Trainer, error) {
	t := &Trainer{config: config.filled(len(data.Train)), data: data, best: math.Inf(1)}
	if err := t.prepare(ctx, model); err != nil {
		return nil, err
	}
	pairs := t.firstPairs()
	if err := t.engine.write(ctx, pairs, optimizer.NewState(pairs)); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	if err := t.fit(ctx); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// fit makes batches small enough for the memory budget: a step then takes fewer
// examples.
func (t *Trainer) fit(ctx context.Context) error {
	longest := t.longest()
	if t.engine.fits(longest) {
		return nil
	}
	for longest > 1 && !t.engine.fits(longest) {
		longest -= (longest + 7) / 8
	}
	t.config.Batching.Tokens = longest
	if err := t.begin(ctx, 0); err != nil {
		return err
	}
	if err := t.countSteps(ctx); err != nil {
		return err
	}
	if longest := t.longest(); !t.engine.fits(longest) {
		return fmt.Errorf("%w: an example of %d tokens takes more than the memory budget of %d bytes; cut examples "+
			"at fewer tokens, or raise it",
			ErrConfig, longest, t.config.MemoryBudget)
	}
	return nil
}

func (t *Trainer) prepare(ctx context.Context, model *gemma4.Model) (err error) {
	if len(t.data.Train) == 0 {
		return fmt.Errorf("%w: there are no examples", ErrConfig)
	}
	for i := range t.data.Rehearsed {
		if len(t.data.Rehearsed[i].Media) > 0 {
			return fmt.Errorf("%w: the model is held to examples with images or sound, which a checkpoint "+
				"does not hold", ErrConfig)
		}
	}
	if t.model, err = arch.Open(model.File()); err != nil {
		return err
	}
	if err := t.config.checkLength(); err != nil {
		return err
	}
	if err := t.begin(ctx, 0); err != nil {
		return err
	}
	t.config.Schedule.Peak = cmp.Or(t.config.Schedule.Peak, rateFor(t.model.Config.EmbeddingLength))
	if t.config.Steps == 0 {
		t.config.Epochs = cmp.Or(t.config.Epochs, epochsFor(t.order.stepsOf(0)))
	}
	if err := t.countSteps(ctx); err != nil {
		return err
	}
	if t.config.Schedule.Warmup == 0 {
		t.config.Schedule.Warmup = t.config.Schedule.Steps / 20
	}
	if err := t.config.check(); err != nil {
		return err
	}
	targets, err := t.config.targets(t.model)
	if err != nil {
		return err
	}
	if t.tape, err = tape.New(t.model, targets); err != nil {
		return err
	}
	t.base = model
	if t.release, err = model.Retain(); err != nil {
		return err
	}
	if t.engine, err = t.newEngine(ctx, model); err != nil {
		t.release()
	}
	return err
}

// countSteps finds how many steps the run makes.
func (t *Trainer) countSteps(ctx context.Context) (err error) {
	if t.config.Schedule.Steps = t.config.Steps; t.config.Steps > 0 {
		return nil
	}
	if each := t.order.stepsOf(0); t.config.Epochs > maxSteps/each {
		return fmt.Errorf("%w: %d epochs of some %d steps; a run has at most %d steps, so make fewer epochs", ErrConfig,
			t.config.Epochs, each, maxSteps)
	}
	t.config.Schedule.Steps, err = t.order.steps(ctx, t.config.Epochs)
	return err
}

// begin takes the examples in the order of step number done.
func (t *Trainer) begin(ctx context.Context, done int) error {
	t.words = newDropout(t.data.Train, &t.config)
	t.order, t.rehearsed = newOrder(t.data.Train, &t.config), nil
	if err := t.order.skip(ctx, done); err != nil || len(t.data.Rehearsed) == 0 {
		return err
	}
	t.rehearsed = newOrder(t.data.Rehearsed, &t.config)
	t.rehearsed.accumulate = 1
	return t.rehearsed.skip(ctx, done)
}

// newEngine computes where the model is.
func (t *Trainer) newEngine(ctx context.Context, model *gemma4.Model) (engine, error) {
	if model.Kit() != nil {
		return newGPUEngine(ctx, t, model)
	}
	return newCPUEngine(t.tape, model.CPU(), &t.config), nil
}

// firstPairs are Kaiming-uniform with a = √5, which is ±1/√in, and zeros.
func (t *Trainer) firstPairs() []*adapter.Pair {
	r := rand.New(rand.NewPCG(t.config.Seed, 0x10a))
	pairs := make([]*adapter.Pair, len(t.tape.Slots))
	for i, s := range t.tape.Slots {
		p := &adapter.Pair{Rank: t.config.Rank, In: s.In, Out: s.Out,
			Scale: float32(t.config.Alpha / float64(t.config.Rank))}
		p.A, p.B = make([]float32, p.Rank*p.In), make([]float32, p.Out*p.Rank)
		bound := 1 / math.Sqrt(float64(p.In))
		for j := range p.A {
			p.A[j] = float32(bound * (2*r.Float64() - 1))
		}
		pairs[i] = p
	}
	return pairs
}

// Plan says what the run will take.
func (t *Trainer) Plan() Plan {
	p := Plan{Steps: t.config.Schedule.Steps, Examples: len(t.data.Train), Rehearsed: len(t.data.Rehearsed)}
	t.engine.plan(t.longest(), &p)
	for i := range t.data.Train {
		p.Tokens += int64(len(t.data.Train[i].Tokens))
		p.Targets += int64(t.data.Train[i].Asked())
	}
	for _, s := range t.tape.Slots {
		p.Parameters += int64(t.config.Rank) * int64(s.In+s.Out)
	}
	return p
}

// longest is the tokens of the longest batch, of all that are computed.
func (t *Trainer) longest() int {
	longest := t.order.longest()
	if t.rehearsed != nil {
		longest = max(longest, t.rehearsed.longest())
	}
	return longest
}

// Config is the run's settings with all defaults filled in.
func (t *Trainer) Config() Config { return t.config }

// Done is how many steps the run has made.
func (t *Trainer) Done() int { return t.done }

// Event is a step, or a look at the examples that were held out.
type Event struct {
	Step  int `json:"step"` // from 1
	Steps int `json:"steps"`
	Epoch int `json:"epoch"` // from 1

	Loss float64 `json:"loss"` // the mean over the targets
	// Divergence is how far the model has moved from what it is held to, in the mean over
	// the step's positions.
	Divergence float64       `json:"divergence,omitempty"`
	Rate       float64       `json:"rate"`
	Length     float64       `json:"gradient"` // of the gradients, before clipping
	Tokens     int           `json:"tokens"`
	Time       time.Duration `json:"nanoseconds"`
	Remaining  time.Duration `json:"remainingNanoseconds"`

	// HeldOutLoss is the loss of the examples that were held out, where they were looked
	// at after this step.
	HeldOutLoss *float64 `json:"heldOutLoss,omitempty"`
	// Best says that HeldOutLoss is the least so far.
	Best bool `json:"best,omitempty"`
	// Stopped says that the run ends here because HeldOutLoss has not become less.
	Stopped bool `json:"stopped,omitempty"`
}

// Run makes the steps that are left, an event each. It ends after the last one, at
// an early stop, or with an error; a cancelled ctx ends it with ctx's error.
// Leaving the loop ends it too; Run then goes on from there.
func (t *Trainer) Run(ctx context.Context) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		if err := t.begin(ctx, t.done); err != nil {
			yield(Event{}, err)
			return
		}
		begun, first := time.Now(), t.done
		for t.done < t.config.Schedule.Steps && !t.stopped {
			e, err := t.step(ctx)
			if err != nil {
				yield(Event{}, err)
				return
			}
			left := t.config.Schedule.Steps - t.done
			e.Remaining = time.Since(begun) / time.Duration(t.done-first) * time.Duration(left)
			if !yield(e, nil) {
				return
			}
		}
	}
}

// step makes one step and, when it is due, looks at what was held out. What a step
// that fails has gathered is dropped, so that Run can be called again.
func (t *Trainer) step(ctx context.Context) (Event, error) {
	e, err := t.move(ctx)
	if err != nil {
		return e, errors.Join(err, t.engine.forget())
	}
	return e, nil
}

func (t *Trainer) move(ctx context.Context) (Event, error) {
	begun := time.Now()
	batches, endOfEpoch := t.order.step()
	e := Event{Step: t.done + 1, Steps: t.config.Schedule.Steps, Epoch: t.order.epoch + 1,
		Rate: t.config.Schedule.Rate(t.done)}
	asked := 0
	for _, indices := range batches {
		for _, i := range indices {
			asked += t.data.Train[i].Asked()
			e.Tokens += len(t.data.Train[i].Tokens)
		}
	}
	for _, indices := range batches {
		batch, err := t.batch(ctx, t.data.Train, indices, t.order.epoch)
		if err != nil {
			return e, err
		}
		loss, err := t.engine.gradients(ctx, batch, 1/float64(asked))
		if err != nil {
			return e, err
		}
		e.Loss += loss / float64(asked)
	}
	if t.rehearsed != nil {
		if err := t.hold(ctx, &e); err != nil {
			return e, err
		}
	}
	var err error
	if e.Length, err = t.engine.step(ctx, *t.config.Optimizer, e.Rate); err != nil {
		return e, err
	}
	if sum := e.Loss + e.Length; math.IsNaN(sum) || math.IsInf(sum, 0) {
		return e, fmt.Errorf("%w at step %d: the loss is %v, the gradient %v long; a lower "+
			"learning rate helps", ErrDiverged, e.Step, e.Loss, e.Length)
	}
	t.done++
	if t.due(endOfEpoch) {
		err = t.judge(ctx, &e)
	}
	e.Time = time.Since(begun)
	return e, err
}

// hold adds the gradients of a batch of what the model is held to.
func (t *Trainer) hold(ctx context.Context, e *Event) error {
	batches, _ := t.rehearsed.step()
	batch, err := t.batch(ctx, t.data.Rehearsed, batches[0], asTheyAre)
	if err != nil {
		return err
	}
	asked := float64(len(batch.Asked))
	loss, err := t.engine.gradients(ctx, batch, t.config.Keep/asked)
	e.Divergence = loss / asked
	return err
}

// asTheyAre is instead of the epoch for examples that lose no words.
const asTheyAre = -1

// batch lays examples one behind the other as an epoch takes them, the soft tokens of
// their media in place.
func (t *Trainer) batch(ctx context.Context, from []dataset.Example, indices []int, epoch int) (*tape.Batch, error) {
	examples := make([]tape.Example, len(indices))
	for i, index := range indices {
		e, err := withSoftTokens(ctx, &from[index], t.tape.Config.EmbeddingLength)
		if err != nil {
			return nil, err
		}
		examples[i] = t.words.apply(e, from[index].Words, epoch, index)
	}
	return tape.NewBatch(examples, t.tape.Config.Images)
}

// Adapter is what has been trained so far.
func (t *Trainer) Adapter(ctx context.Context) (*adapter.Adapter, error) {
	pairs, _, err := t.engine.read(ctx)
	if err != nil {
		return nil, err
	}
	c := t.tape.Config
	a := &adapter.Adapter{Pairs: map[adapter.Target]*adapter.Pair{}, Family: c.Family, TextAlone: c.TextAlone()}
	for i, s := range t.tape.Slots {
		a.Pairs[s.Target] = pairs[i]
	}
	return a, nil
}

// Close releases what the run holds.
func (t *Trainer) Close() error {
	defer t.release()
	return t.engine.close()
}

package finetune

import (
	"context"

	"github.com/gemwire/gemwire/finetune/dataset"
)

// due says whether the examples that were held out are looked at after this step.
func (t *Trainer) due(endOfEpoch bool) bool {
	if len(t.data.HeldOut) == 0 {
		return false
	}
	last := t.done == t.config.Schedule.Steps
	if every := t.config.EvaluateEvery; every > 0 {
		return last || t.done%every == 0
	}
	return last || endOfEpoch
}

// judge looks at the examples that were held out and decides whether to go on.
func (t *Trainer) judge(ctx context.Context, e *Event) error {
	held, err := t.Evaluate(ctx, t.data.HeldOut)
	if err != nil {
		return err
	}
	e.HeldOutLoss = &held
	if held < t.best {
		t.best, t.worse, e.Best = held, 0, true
		return nil
	}
	t.worse++
	t.stopped = t.config.Patience > 0 && t.worse >= t.config.Patience
	e.Stopped = t.stopped
	return nil
}

// Evaluate is the mean loss over the targets of examples, under the adapter as it
// is.
func (t *Trainer) Evaluate(ctx context.Context, examples []dataset.Example) (float64, error) {
	var sum float64
	asked := 0
	for _, indices := range newOrder(examples, &t.config).inOrder() {
		batch, err := t.batch(ctx, examples, indices, asTheyAre)
		if err != nil {
			return 0, err
		}
		loss, err := t.engine.loss(ctx, batch)
		if err != nil {
			return 0, err
		}
		sum += loss
		asked += len(batch.Asked)
	}
	return sum / float64(max(asked, 1)), nil
}

// inOrder is one pass over the examples in batches.
func (o *order) inOrder() [][]int { return o.batching.Epoch(0, o.lengths) }

package finetune

import (
	"context"
	"slices"

	"github.com/gemwire/gemwire/finetune/dataset"
)

// order says which examples each step takes: epoch after epoch, each shuffled
// anew. It depends on nothing but the examples' lengths and the settings, so that
// a run that is resumed goes on as it would have.
type order struct {
	batching   dataset.Batching
	accumulate int
	lengths    []int

	epoch   int
	batches [][]int // of the epoch
	next    int     // of batches
}

func newOrder(examples []dataset.Example, c *Config) *order {
	o := &order{batching: c.Batching, accumulate: c.Accumulate, epoch: -1}
	for i := range examples {
		o.lengths = append(o.lengths, len(examples[i].Tokens))
	}
	return o
}

// step is the next step's batches, as indices of examples, and whether it is an
// epoch's last.
func (o *order) step() (batches [][]int, last bool) {
	if o.next == len(o.batches) {
		o.epoch++
		o.batches, o.next = o.batching.Epoch(o.epoch, o.lengths), 0
	}
	end := min(o.next+o.accumulate, len(o.batches))
	batches = o.batches[o.next:end]
	o.next = end
	return batches, end == len(o.batches)
}

// skip passes over the first n steps, unless ctx ends.
func (o *order) skip(ctx context.Context, n int) error {
	for range n {
		if err := ctx.Err(); err != nil {
			return err
		}
		o.step()
	}
	return nil
}

// steps is how many steps so many epochs take. Batches differ from epoch to epoch, so
// each is laid out, unless ctx ends.
func (o *order) steps(ctx context.Context, epochs int) (n int, err error) {
	for epoch := range epochs {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		n += o.stepsOf(epoch)
	}
	return n, nil
}

// stepsOf is how many steps an epoch takes.
func (o *order) stepsOf(epoch int) int {
	return (len(o.batching.Epoch(epoch, o.lengths)) + o.accumulate - 1) / o.accumulate
}

// longest is the most tokens that a batch can have.
func (o *order) longest() int {
	lengths := slices.Sorted(slices.Values(o.lengths))
	slices.Reverse(lengths)
	if n := o.batching.Examples; n > 0 {
		lengths = lengths[:min(n, len(lengths))]
	}
	sum := 0
	for _, n := range lengths {
		sum += n
	}
	if o.batching.Tokens > 0 {
		sum = min(sum, o.batching.Tokens)
	}
	return max(sum, lengths[0])
}

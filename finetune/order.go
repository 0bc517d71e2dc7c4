package finetune

import (
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

// skip passes over the first n steps.
func (o *order) skip(n int) {
	for range n {
		o.step()
	}
}

// steps is how many steps so many epochs take.
func (o *order) steps(epochs int) int {
	n := 0
	for epoch := range epochs {
		n += (len(o.batching.Epoch(epoch, o.lengths)) + o.accumulate - 1) / o.accumulate
	}
	return n
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

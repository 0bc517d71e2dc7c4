package dataset

import "math/rand/v2"

// Batching says which examples are computed together. Examples of a batch lie one
// behind the other without padding, so that short ones fill a pass together.
type Batching struct {
	Tokens   int    // a batch has no more than so many, unless a single example has; 0 means any number
	Examples int    // nor more examples than this; 0 means any number
	Seed     uint64 // of the order
}

// Epoch is the order in which one pass over examples of these lengths takes them:
// another for each epoch, the same for the same seed.
func (b Batching) Epoch(epoch int, lengths []int) [][]int {
	order := rand.New(rand.NewPCG(b.Seed, uint64(epoch))).Perm(len(lengths))
	var batches [][]int
	var batch []int
	tokens := 0
	for _, i := range order {
		full := b.Examples > 0 && len(batch) == b.Examples || b.Tokens > 0 && tokens+lengths[i] > b.Tokens
		if full && len(batch) > 0 {
			batches = append(batches, batch)
			batch, tokens = nil, 0
		}
		batch = append(batch, i)
		tokens += lengths[i]
	}
	if len(batch) > 0 {
		batches = append(batches, batch)
	}
	return batches
}

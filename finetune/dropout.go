package finetune

import (
	"math/rand/v2"
	"slices"

	"github.com/gemwire/gemwire/finetune/dataset"
	"github.com/gemwire/gemwire/finetune/tape"
)

// dropout changes the wording of questions that a run has seen often enough as they
// are: of the words that the answer does not say, some are left out and some replaced,
// and where some are missing others are put in elsewhere. So what has to be said comes
// to hang on what is asked for rather than on how, and still nothing has to be said
// that the question no longer tells. It depends on nothing but the examples, the seed
// and the epoch, so that a run that is resumed goes on as it would have.
type dropout struct {
	part float64 // of the words
	seed uint64
	pool []int32 // such words of all questions, as often as they come up
}

// What happens to a word.
type fate int

const (
	stays fate = iota
	leaves
	changes
)

func newDropout(examples []dataset.Example, c *Config) *dropout {
	d := &dropout{part: c.WordDropout, seed: c.Seed}
	for i := range examples {
		e := &examples[i]
		for _, at := range e.Words {
			if id := e.Tokens[at].ID; !slices.Contains(e.Targets, id) {
				d.pool = append(d.pool, id)
			}
		}
	}
	return d
}

// apply is an example as an epoch, counted from 0, takes it: no longer than it was.
// index tells the example from the others.
func (d *dropout) apply(e tape.Example, words []int, epoch, index int) tape.Example {
	if !(d.part > 0) || epoch < usualEpochs || len(words) == 0 || len(d.pool) == 0 {
		return e
	}
	r := rand.New(rand.NewPCG(d.seed^0xd409, uint64(epoch)<<32|uint64(index)))
	fates, missing := d.fates(r, &e, words)
	var out tape.Example
	add := func(token tape.Token, i int, target int32) {
		out.Tokens, out.Targets = append(out.Tokens, token), append(out.Targets, target)
		if e.Shares != nil {
			out.Shares = append(out.Shares, e.Shares[i])
		}
	}
	for i, token := range e.Tokens {
		if at, isWord := slices.BinarySearch(words, i); isWord {
			if missing > 0 && r.Float64() < d.part/2 {
				add(d.word(r), i, tape.NoTarget)
				missing--
			}
			switch fates[at] {
			case leaves:
				continue
			case changes:
				token = d.word(r)
			}
		}
		add(token, i, e.Targets[i])
	}
	return out
}

// fates says what happens to each word of a question, and how many leave.
func (d *dropout) fates(r *rand.Rand, e *tape.Example, words []int) (fates []fate, leaving int) {
	fates = make([]fate, len(words))
	for i, at := range words {
		if slices.Contains(e.Targets, e.Tokens[at].ID) || r.Float64() >= d.part {
			continue
		}
		if fates[i] = changes; r.IntN(2) == 0 {
			fates[i] = leaves
			leaving++
		}
	}
	return fates, leaving
}

// word is one from another question.
func (d *dropout) word(r *rand.Rand) tape.Token { return tape.Token{ID: d.pool[r.IntN(len(d.pool))]} }

package dataset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
)

// LoadOptions say how a file becomes examples.
type LoadOptions struct {
	EncodeOptions
	// Skip passes over bad lines instead of refusing the file.
	Skip bool
	// Prepare, where set, changes a record before it is encoded.
	Prepare func(*Record) error
	// Progress, where set, is called before each record.
	Progress func(done, total int)
}

// Set is what was made of a file.
type Set struct {
	Records  []Record     // those with examples
	Examples [][]Example  // of each record
	Bad      []*LineError // lines that were passed over, in order
}

// Load makes examples of a JSONL file. Where lines are bad, and are not to be
// skipped, the error names the first of them; where none is good, it is the reason,
// and the Set holds the bad ones all the same.
func Load(ctx context.Context, m Model, r io.Reader, opts LoadOptions) (*Set, error) {
	records, bad, err := Read(ctx, r, ReadOptions{Skip: opts.Skip})
	set := &Set{Bad: bad}
	if err != nil {
		return set, err
	}
	for i, record := range records {
		if err := ctx.Err(); err != nil {
			return set, err
		}
		if opts.Progress != nil {
			opts.Progress(i, len(records))
		}
		err := set.add(ctx, m, record, &opts)
		var line *LineError
		if errors.As(err, &line) {
			if set.Bad = append(set.Bad, line); opts.Skip {
				continue
			}
		}
		if err != nil {
			return set, err
		}
	}
	slices.SortFunc(set.Bad, func(a, b *LineError) int { return a.Line - b.Line })
	if len(set.Records) == 0 {
		return set, fmt.Errorf("%w: no line is usable", ErrLine)
	}
	return set, nil
}

func (s *Set) add(ctx context.Context, m Model, record Record, opts *LoadOptions) error {
	if opts.Prepare != nil {
		if err := opts.Prepare(&record); err != nil {
			return err
		}
	}
	examples, err := Encode(ctx, m, record, opts.EncodeOptions)
	if err != nil {
		return err
	}
	s.Records, s.Examples = append(s.Records, record), append(s.Examples, examples)
	return nil
}

// All are the examples of some records, in order.
func (s *Set) All(records []int) []Example {
	var all []Example
	for _, i := range records {
		all = append(all, s.Examples[i]...)
	}
	return all
}

// Whole are all examples.
func (s *Set) Whole() []Example { return slices.Concat(s.Examples...) }

// holdSeed fixes which records are held out: a resumed run has the same.
const holdSeed = 0x601d

// HoldOut chooses a part of n records to judge by, always the same ones: at least one,
// unless the part is 0, and never the last that is left. Both lists are in order.
func HoldOut(n int, part float64) (train, held []int) {
	train = make([]int, n)
	for i := range train {
		train[i] = i
	}
	if part <= 0 || n < 2 {
		return train, nil
	}
	order := rand.New(rand.NewPCG(holdSeed, 0)).Perm(n)
	k := min(n-1, max(1, int(math.Round(part*float64(n)))))
	train, held = order[k:], order[:k]
	slices.Sort(held)
	slices.Sort(train)
	return train, held
}

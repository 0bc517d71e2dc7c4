package measure

import (
	"context"
	"fmt"
	"time"

	"github.com/gemwire/gemwire/tools/internal/bench"
)

// A Contender is a program that runs models, one of two that are compared.
type Contender interface {
	// Name is the program's, with its version.
	Name() string
	// Device is what it computes on, known when a model is open.
	Device() string
	// Open opens the model; none is open.
	Open(ctx context.Context) error
	// Run computes prompt with empty caches up to the choice of the likeliest token
	// behind it, and then chooses n more.
	Run(ctx context.Context, prompt []int32, n int) (Run, error)
	// Close closes the model that is open, if one is.
	Close() error
}

// Run is what one run took, and what it chose: one token more than were asked for.
type Run struct {
	Prefill, Decode time.Duration
	Tokens          []int32
}

// CompareOptions say what is compared.
type CompareOptions struct {
	Prompts      []int // tokens of prompts
	Contexts     []int // tokens in the caches before those that are decoded
	DecodeTokens int
	Repeats      int
	Loads        int // 0 leaves loading out
	Vocab        int
	// Progress, where set, hears the runs that are done.
	Progress func(what string, done, total int)
}

// MaxTokens is the longest text of a run.
func (o CompareOptions) MaxTokens() int {
	most := 1
	for _, n := range o.Prompts {
		most = max(most, n)
	}
	for _, n := range o.Contexts {
		most = max(most, n+o.DecodeTokens)
	}
	return most + 1
}

func (o CompareOptions) check() error {
	for _, n := range append(append([]int{}, o.Prompts...), o.Contexts...) {
		if n < 0 {
			return fmt.Errorf("%w: %d tokens", bench.ErrOptions, n)
		}
	}
	if o.DecodeTokens < 1 || o.Repeats < 1 || o.Loads < 0 || o.Vocab < 1 {
		return fmt.Errorf("%w: %d decoded tokens, %d repeats; each must be at least 1", bench.ErrOptions,
			o.DecodeTokens,
			o.Repeats)
	}
	return nil
}

// CompareReport is a comparison of two contenders in one run.
type CompareReport struct {
	Names   [2]string    `json:"contenders"`
	Devices [2]string    `json:"devices"`
	Rows    []CompareRow `json:"rows"`
	// Agreed is how many tokens both chose alike, from the first on, behind the
	// shortest context, of the Chosen ones. Random prompts end in near ties, which
	// rounding decides, so fewer than all is no fault.
	Agreed int `json:"agreed_tokens"`
	Chosen int `json:"chosen_tokens"`
}

// CompareRow is one figure of both.
type CompareRow struct {
	What    string          `json:"what"` // load, prefill or decode
	Tokens  int             `json:"tokens"`
	Seconds [2]bench.Series `json:"seconds"` // for decode, of one token
	Rates   [2]bench.Series `json:"tokens_per_second"`
	// Ratio is how many times as fast the first is, turn by turn.
	Ratio bench.Series `json:"ratio"`
}

// The rows.
const (
	RowLoad    = "load"
	RowPrefill = "prefill"
	RowDecode  = "decode"
)

// Compare lets two contenders take turns. One turn of each goes before those that
// count. Both are closed at the end.
func Compare(ctx context.Context, both [2]Contender, o CompareOptions) (report CompareReport, err error) {
	if err := o.check(); err != nil {
		return report, err
	}
	c := &comparison{ctx: ctx, both: both, CompareOptions: o, tokens: bench.RandomTokens(o.MaxTokens(), o.Vocab)}
	c.total = (len(o.Prompts) + len(o.Contexts)) * (o.Repeats + 1)
	c.total += o.Loads + 1
	defer func() {
		for _, side := range both {
			if closing := side.Close(); err == nil {
				err = closing
			}
		}
	}()
	if err := c.run(); err != nil {
		return report, err
	}
	for i, side := range both {
		c.report.Names[i], c.report.Devices[i] = side.Name(), side.Device()
	}
	return c.report, nil
}

type comparison struct {
	CompareOptions
	ctx         context.Context
	both        [2]Contender
	tokens      []int32
	done, total int
	report      CompareReport
}

func (c *comparison) run() error {
	if err := c.load(); err != nil {
		return err
	}
	for _, n := range c.Prompts {
		n = max(n, 1)
		if err := c.turns(RowPrefill, n, c.Repeats, n, func(side Contender) (time.Duration, error) {
			run, err := side.Run(c.ctx, c.tokens[:n], 0)
			return run.Prefill, err
		}); err != nil {
			return err
		}
	}
	for i, depth := range c.Contexts {
		if err := c.decode(depth, i == 0); err != nil {
			return err
		}
	}
	return nil
}

// load times the way from the file's name to the first token; the models of the
// last turn stay open.
func (c *comparison) load() error {
	err := c.turns(RowLoad, 0, c.Loads, 1, func(side Contender) (time.Duration, error) {
		if err := side.Close(); err != nil {
			return 0, err
		}
		begun := time.Now()
		if err := side.Open(c.ctx); err != nil {
			return 0, err
		}
		_, err := side.Run(c.ctx, c.tokens[:1], 0)
		return time.Since(begun), err
	})
	if c.Loads == 0 {
		c.report.Rows = nil
	}
	return err
}

func (c *comparison) decode(depth int, first bool) error {
	var chosen [2][]int32
	err := c.turns(RowDecode, depth, c.Repeats, c.DecodeTokens, func(side Contender) (time.Duration, error) {
		// A context of nothing still has a token that the first choice follows.
		run, err := side.Run(c.ctx, c.tokens[:max(depth, 1)], c.DecodeTokens)
		if side == c.both[0] {
			chosen[0] = run.Tokens
		} else {
			chosen[1] = run.Tokens
		}
		return run.Decode, err
	})
	if err == nil && first {
		c.report.Chosen, c.report.Agreed = len(chosen[0]), agreed(chosen[0], chosen[1])
	}
	return err
}

func agreed(a, b []int32) (n int) {
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// turns lets both do one thing, repeats times after one that does not count, and
// adds the row.
func (c *comparison) turns(what string, tokens, repeats, perRun int, do func(Contender) (time.Duration, error)) error {
	var seconds [2][]float64
	for turn := range repeats + 1 {
		for i, side := range c.both {
			if c.Progress != nil {
				c.Progress(fmt.Sprintf("%s %d, %s", what, tokens, side.Name()), c.done, c.total)
			}
			took, err := do(side)
			if err != nil {
				return fmt.Errorf("%s: %s at %d tokens: %w", side.Name(), what, tokens, err)
			}
			if turn > 0 {
				seconds[i] = append(seconds[i], took.Seconds())
			}
		}
		c.done++
	}
	c.report.Rows = append(c.report.Rows, newCompareRow(what, tokens, perRun, seconds))
	return nil
}

func newCompareRow(what string, tokens, perRun int, seconds [2][]float64) CompareRow {
	row := CompareRow{What: what, Tokens: tokens}
	ratios := make([]float64, len(seconds[0]))
	for i := range ratios {
		ratios[i] = seconds[1][i] / seconds[0][i]
	}
	row.Ratio = bench.SeriesOf(ratios)
	for i, runs := range seconds {
		row.Seconds[i] = bench.SeriesOf(runs)
		if what != RowLoad {
			row.Rates[i] = bench.Rates(float64(perRun), runs)
		}
		if what == RowDecode {
			row.Seconds[i] = bench.Scaled(1/float64(perRun), runs)
		}
	}
	return row
}

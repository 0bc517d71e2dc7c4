package measure

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/tools/internal/bench"
	"github.com/gemwire/gemwire/wgslkit"
)

// StreamsOptions say how many answers at once are measured.
type StreamsOptions struct {
	Streams      []int // answers at once, each at least 1
	PromptTokens int   // of each
	DecodeTokens int   // of each, while all of them are being made
	// Newcomers is how many requests come, one after the other, beside the running answers.
	Newcomers int
	// Kernels asks what each kernel takes, on a GPU.
	Kernels bool
	// Progress, where set, hears the rows that are done.
	Progress func(done, total int)
}

// StreamsRow is what so many answers at once were measured to take.
type StreamsRow struct {
	Streams int `json:"streams"`
	// TokensPerSecond is of all answers together, while all of them were being made.
	TokensPerSecond float64 `json:"tokens_per_second"`
	StepMS          float64 `json:"step_ms"`
	// Times is how many times the tokens of the first row there were in a second, and
	// StepTimes how many times as long a step took.
	Times     float64 `json:"times_the_first"`
	StepTimes float64 `json:"step_times_the_first"`
	// FirstP50MS and FirstP99MS are the time to the first token of a request that came
	// beside these answers.
	FirstP50MS float64 `json:"first_token_p50_ms,omitempty"`
	FirstP99MS float64 `json:"first_token_p99_ms,omitempty"`
	// Kernels is what a step's kernels take, slowest first, where that was asked for.
	Kernels []wgslkit.KernelTime `json:"kernels,omitempty"`
}

// Streams measures answers that are made at once, in batches of as many streams and one more
// for those who come. The prompts are random tokens, and begin differently.
func Streams(ctx context.Context, m *gemma4.Model, o StreamsOptions) ([]StreamsRow, error) {
	if len(o.Streams) == 0 || o.PromptTokens < 2 || o.DecodeTokens < 4 || o.Newcomers < 0 {
		return nil, fmt.Errorf("%w: %d prompt tokens, %d decoded, %d newcomers", bench.ErrOptions, o.PromptTokens,
			o.DecodeTokens, o.Newcomers)
	}
	var rows []StreamsRow
	for i, n := range o.Streams {
		row, err := streamsRow(ctx, m, o, n)
		if err != nil {
			return rows, fmt.Errorf("%d streams: %w", n, err)
		}
		first := row
		if len(rows) > 0 {
			first = rows[0]
		}
		row.Times, row.StepTimes = row.TokensPerSecond/first.TokensPerSecond, row.StepMS/first.StepMS
		rows = append(rows, row)
		if o.Progress != nil {
			o.Progress(i+1, len(o.Streams))
		}
	}
	return rows, nil
}

func streamsRow(ctx context.Context, m *gemma4.Model, o StreamsOptions, n int) (row StreamsRow, err error) {
	if n < 1 || n > gemma4.MostStreams {
		return row, fmt.Errorf("%w: there are 1 to %d at once", bench.ErrOptions, gemma4.MostStreams)
	}
	streams := n
	if o.Newcomers > 0 && n < gemma4.MostStreams {
		streams++
	}
	run := streamsRun{ctx: ctx, options: o, vocab: m.Info().Vocab}
	most := o.PromptTokens + run.tokens(n) + 1
	b, err := m.NewBatch(gemma4.BatchOptions{Streams: streams, Prefixes: gemma4.NoPrefixes, Context: most})
	if err != nil {
		return row, err
	}
	defer b.Close()
	run.batch = b
	if _, err := run.all(n, 4); err != nil { // warms up
		return row, err
	}
	times, err := run.all(n, run.tokens(n))
	if err != nil {
		return row, err
	}
	row = rowOf(n, times)
	if o.Kernels {
		row.Kernels, err = m.ProfileStep(ctx, gemma4.BatchOptions{Streams: n, Context: most}, o.PromptTokens)
		if err != nil {
			return row, err
		}
	}
	if streams > n {
		err = run.newcomers(n, &row)
	}
	return row, err
}

type streamsRun struct {
	ctx     context.Context
	batch   *gemma4.Batch
	options StreamsOptions
	vocab   int
	prompts int // made so far
}

// tokens is how many each of n answers has: prompts are computed one behind the other, so that
// the first answer is as far ahead of the last as there are others.
func (r *streamsRun) tokens(n int) int { return r.options.DecodeTokens + n }

// prompt is one that begins differently from all before it.
func (r *streamsRun) prompt() gemma4.Prompt {
	tokens := bench.RandomTokens(r.options.PromptTokens+r.prompts, r.vocab)[r.prompts:]
	r.prompts++
	return gemma4.Tokens(tokens)
}

// all makes n answers at once, and returns when each of their tokens came.
func (r *streamsRun) all(n, tokens int) ([][]time.Time, error) {
	times, errs := make([][]time.Time, n), make([]error, n)
	var group sync.WaitGroup
	for i := range n {
		prompt := r.prompt()
		group.Go(func() {
			for _, err := range r.batch.Choose(r.ctx, prompt, gemma4.Choosing{MaxTokens: tokens}) {
				if err != nil {
					errs[i] = err
					return
				}
				times[i] = append(times[i], time.Now())
			}
		})
	}
	group.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return times, nil
}

// rowOf counts the tokens of the time in which all answers were being made. Where the first
// had ended when the last began, since prompts are computed in more pieces than one, it is all
// of the time.
func rowOf(n int, times [][]time.Time) StreamsRow {
	from, to := times[0][0], times[0][len(times[0])-1]
	for _, t := range times {
		if t[0].After(from) {
			from = t[0]
		}
		if last := t[len(t)-1]; last.Before(to) {
			to = last
		}
	}
	if !to.After(from) {
		from, to = times[0][0], times[n-1][len(times[n-1])-1]
	}
	count := 0
	for _, t := range times {
		for _, at := range t {
			if at.After(from) && !at.After(to) {
				count++
			}
		}
	}
	perSecond := float64(count) / to.Sub(from).Seconds()
	return StreamsRow{Streams: n, TokensPerSecond: perSecond, StepMS: 1000 * float64(n) / perSecond}
}

// newcomers measures the time to the first token of requests beside n running answers,
// which are begun anew as they end.
func (r *streamsRun) newcomers(n int, row *StreamsRow) error {
	ctx, stop := context.WithCancel(r.ctx)
	var group sync.WaitGroup
	defer group.Wait()
	defer stop()
	started := make(chan struct{}, n)
	for range n {
		prompt := r.prompt()
		group.Go(func() {
			told := false
			for ctx.Err() == nil {
				for _, err := range r.batch.Choose(ctx, prompt, gemma4.Choosing{MaxTokens: r.options.DecodeTokens}) {
					if err != nil {
						break
					}
					if !told {
						told = true
						started <- struct{}{}
					}
				}
			}
		})
	}
	for range n {
		select {
		case <-started:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	var waits []float64
	for range r.options.Newcomers {
		begun := time.Now()
		for _, err := range r.batch.Choose(ctx, r.prompt(), gemma4.Choosing{MaxTokens: 1}) {
			if err != nil {
				return err
			}
			waits = append(waits, 1000*time.Since(begun).Seconds())
		}
	}
	slices.Sort(waits)
	row.FirstP50MS, row.FirstP99MS = waits[len(waits)/2], waits[min(len(waits)*99/100, len(waits)-1)]
	return nil
}

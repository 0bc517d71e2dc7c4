package measure

import (
	"context"
	"fmt"
	"time"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/tools/internal/bench"
)

// DraftsOptions say how decoding with drafts and without is compared.
type DraftsOptions struct {
	PromptTokens int
	DecodeTokens int
	// Drafts and AssistantDrafts are how many tokens are guessed at once; see
	// gemma4.Choosing.
	Drafts, AssistantDrafts int
	Repeats                 int
	// Progress, where set, hears the runs that are done.
	Progress func(done, total int)
}

// DraftsReport compares the two on a text that repeats itself and on one that does not.
type DraftsReport struct {
	Repeating DraftsCase `json:"repeating"`
	Fresh     DraftsCase `json:"fresh"`
}

// DraftsCase is one text's decoding in milliseconds a token, and what was drafted.
type DraftsCase struct {
	Without bench.Series `json:"without_ms"`
	With    bench.Series `json:"with_ms"`
	Ratio   float64      `json:"times_as_fast"` // of the medians
	Tokens  int          `json:"tokens"`        // in all runs
	Drafted int          `json:"drafted"`
	Right   int          `json:"drafts_right"`
	// Of those drafted, the assistant's.
	Assisted      int `json:"assisted"`
	AssistedRight int `json:"assisted_right"`
}

// Drafts measures decoding with and without drafts, in turn.
//
// The repeating text is what the model says greedily behind random tokens, which
// soon goes in circles; the fresh one is drawn at a high temperature.
func Drafts(ctx context.Context, m *gemma4.Model, o DraftsOptions) (DraftsReport, error) {
	var report DraftsReport
	if o.PromptTokens < 1 || o.DecodeTokens < 2 || o.Repeats < 1 {
		return report, fmt.Errorf("%w: %d prompt tokens, %d decoded, %d repeats", bench.ErrOptions, o.PromptTokens,
			o.DecodeTokens, o.Repeats)
	}
	session, err := m.NewSession(o.PromptTokens + o.DecodeTokens + 1)
	if err != nil {
		return report, err
	}
	defer session.Close()
	r := draftsRun{ctx: ctx, session: session, options: o, prompt: bench.RandomTokens(o.PromptTokens, m.Info().Vocab)}
	if report.Repeating, err = r.measure(sample.Params{}); err != nil {
		return report, err
	}
	report.Fresh, err = r.measure(sample.Params{Temperature: 100, Seed: 11})
	return report, err
}

type draftsRun struct {
	ctx     context.Context
	session *gemma4.Session
	options DraftsOptions
	prompt  []int32
	done    int
}

// measure runs one text, both ways in turn; the first turn warms up.
func (r *draftsRun) measure(sampling sample.Params) (DraftsCase, error) {
	c := DraftsCase{}
	var without, with []float64
	for i := range r.options.Repeats + 1 {
		for _, plain := range []bool{true, false} {
			ms, usage, err := r.once(sampling, plain)
			if err != nil {
				return c, err
			}
			if i == 0 {
				continue
			}
			if plain {
				without = append(without, ms)
				continue
			}
			with = append(with, ms)
			c.add(usage, r.options.DecodeTokens)
		}
		if r.done++; r.options.Progress != nil {
			r.options.Progress(r.done, 2*(r.options.Repeats+1))
		}
	}
	c.Without, c.With = bench.SeriesOf(without), bench.SeriesOf(with)
	c.Ratio = c.Without.Median / c.With.Median
	return c, nil
}

// add counts a run's guesses.
func (c *DraftsCase) add(u gemma4.Usage, tokens int) {
	c.Tokens += tokens
	c.Drafted += u.Drafted
	c.Right += u.DraftsRight
	c.Assisted += u.Assisted
	c.AssistedRight += u.AssistedRight
}

// once decodes behind the prompt: milliseconds a token after the first.
func (r *draftsRun) once(sampling sample.Params, plain bool) (float64, gemma4.Usage, error) {
	var usage gemma4.Usage
	if err := r.session.Reset(); err != nil {
		return 0, usage, err
	}
	var first time.Time
	how := gemma4.Choosing{
		Sampling: sampling, MaxTokens: r.options.DecodeTokens + 1, Drafts: r.options.Drafts,
		AssistantDrafts: r.options.AssistantDrafts, Usage: &usage,
	}
	if plain {
		how.Drafts = gemma4.NoDrafts
	}
	for _, err := range r.session.Choose(r.ctx, gemma4.Tokens(r.prompt), how) {
		if err != nil {
			return 0, usage, err
		}
		if first.IsZero() {
			first = time.Now()
		}
	}
	return 1000 * time.Since(first).Seconds() / float64(r.options.DecodeTokens), usage, nil
}

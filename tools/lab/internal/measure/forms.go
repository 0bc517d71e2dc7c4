package measure

import (
	"context"
	"fmt"
	"time"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/tools/internal/bench"
)

// FormsOptions say how decoding that is held to a form is compared with free decoding.
type FormsOptions struct {
	PromptTokens int
	DecodeTokens int
	Repeats      int
	// Progress, where set, hears the runs that are done.
	Progress func(done, total int)
}

// FormsReport is what a token takes of answers that are free, and of some that are held.
type FormsReport struct {
	Free bench.Series `json:"free_ms"`
	// Text is one JSON string: each token takes a mask, and none is forced.
	Text FormsCase `json:"text"`
	// Records are a list of objects: their keys and punctuation are forced.
	Records FormsCase `json:"records"`
}

// FormsCase is one form's decoding in milliseconds a token.
type FormsCase struct {
	Held   bench.Series `json:"held_ms"`
	Ratio  float64      `json:"times_as_fast"` // as free, by the medians
	Tokens int          `json:"tokens"`        // in all runs
	Forced int          `json:"forced"`        // of them
}

// Forms that do not end before any number of tokens that is measured.
var (
	textForm    = gemma4.Form{Schema: `{"type": "string", "minLength": 1000000}`}
	recordsForm = gemma4.Form{Schema: `{"type": "array", "minItems": 10000, "items": {"type": "object", "properties": {
		"identifier": {"type": "integer", "minimum": 0, "maximum": 999},
		"description": {"type": "string", "pattern": "^[a-z]{1,8}( [a-z]{1,8}){2}$"},
		"delivered": {"type": "boolean"}},
		"required": ["identifier", "description", "delivered"], "additionalProperties": false}}`}
)

// Forms measures the three in turn, without drafts; the first turn warms up.
func Forms(ctx context.Context, m *gemma4.Model, o FormsOptions) (FormsReport, error) {
	var report FormsReport
	if o.PromptTokens < 1 || o.DecodeTokens < 2 || o.Repeats < 1 {
		return report, fmt.Errorf("%w: %d prompt tokens, %d decoded, %d repeats", bench.ErrOptions, o.PromptTokens,
			o.DecodeTokens, o.Repeats)
	}
	session, err := m.NewSession(o.PromptTokens + o.DecodeTokens + 1)
	if err != nil {
		return report, err
	}
	defer session.Close()
	r := formsRun{session: session, options: o, prompt: plainTokens(m, o.PromptTokens)}
	var free, text, records []float64
	for i := range o.Repeats + 1 {
		for _, one := range []struct {
			form *gemma4.Form
			into *[]float64
			of   *FormsCase
		}{{nil, &free, &FormsCase{}}, {&textForm, &text, &report.Text}, {&recordsForm, &records, &report.Records}} {
			ms, forced, err := r.once(ctx, m, one.form)
			if err != nil {
				return report, err
			}
			if i == 0 {
				continue
			}
			*one.into = append(*one.into, ms)
			one.of.Tokens += o.DecodeTokens
			one.of.Forced += forced
		}
		if o.Progress != nil {
			o.Progress(i+1, o.Repeats+1)
		}
	}
	report.Free = bench.SeriesOf(free)
	for _, one := range []struct {
		of   *FormsCase
		runs []float64
	}{{&report.Text, text}, {&report.Records, records}} {
		one.of.Held = bench.SeriesOf(one.runs)
		one.of.Ratio = report.Free.Median / one.of.Held.Median
	}
	return report, nil
}

// plainTokens are random ones without control tokens, by which a thought might begin: it would be free.
func plainTokens(m *gemma4.Model, n int) []int32 {
	tokens := bench.RandomTokens(n, m.Info().Vocab)
	for i, t := range tokens {
		if m.Tokenizer().IsControl(int(t)) {
			tokens[i] = int32(m.Tokenizer().Encode("a")[0])
		}
	}
	return tokens
}

type formsRun struct {
	session *gemma4.Session
	options FormsOptions
	prompt  []int32
}

// once decodes behind the prompt: milliseconds a token after the first, and how many were forced.
func (r *formsRun) once(ctx context.Context, m *gemma4.Model, form *gemma4.Form) (float64, int, error) {
	if err := r.session.Reset(); err != nil {
		return 0, 0, err
	}
	var usage gemma4.Usage
	how := gemma4.Choosing{MaxTokens: r.options.DecodeTokens + 1, Drafts: gemma4.NoDrafts, Usage: &usage}
	if form != nil {
		var err error
		if how.Constraint, err = m.Constraint(ctx, *form); err != nil {
			return 0, 0, err
		}
	}
	var first time.Time
	for _, err := range r.session.Choose(ctx, gemma4.Tokens(r.prompt), how) {
		if err != nil {
			return 0, 0, err
		}
		if first.IsZero() {
			first = time.Now()
		}
	}
	return 1000 * time.Since(first).Seconds() / float64(r.options.DecodeTokens), usage.Forced, nil
}

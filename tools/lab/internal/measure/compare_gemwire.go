package measure

import (
	"context"
	"time"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/tools/internal/bench"
)

// Gemwire is this program as a contender.
type Gemwire struct {
	// Version is what it calls itself by.
	Version string
	// Tokens is the longest text of a run.
	Tokens int
	// OpenModel opens the model, for texts of so many tokens.
	OpenModel func(ctx context.Context, tokens int) (*gemma4.Model, error)

	model   *gemma4.Model
	session *gemma4.Session
}

// Name is the program's.
func (g *Gemwire) Name() string { return "gemwire " + g.Version }

// Device is what it computes on, and what drives that.
func (g *Gemwire) Device() string {
	if g.model == nil {
		return ""
	}
	info := g.model.Info()
	if driver := bench.Library(info.Adapter); driver != "" {
		return info.DeviceName + ", " + driver
	}
	return info.DeviceName
}

// Open opens the model.
func (g *Gemwire) Open(ctx context.Context) (err error) {
	if g.model, err = g.OpenModel(ctx, g.Tokens); err != nil {
		return err
	}
	g.session, err = g.model.NewSession(g.Tokens)
	return err
}

// Close closes the model that is open.
func (g *Gemwire) Close() error {
	if g.session != nil {
		g.session.Close()
	}
	model := g.model
	g.session, g.model = nil, nil
	if model == nil {
		return nil
	}
	return model.Close()
}

// Run computes a prompt and n tokens behind the first choice.
func (g *Gemwire) Run(ctx context.Context, prompt []int32, n int) (run Run, err error) {
	if err := g.session.Reset(); err != nil {
		return run, err
	}
	begun := time.Now()
	var first time.Time
	how := gemma4.Choosing{MaxTokens: n + 1, Drafts: gemma4.NoDrafts}
	for choice, err := range g.session.Choose(ctx, gemma4.Tokens(prompt), how) {
		if err != nil {
			return run, err
		}
		if first.IsZero() {
			first = time.Now()
		}
		run.Tokens = append(run.Tokens, choice.Token)
	}
	run.Prefill, run.Decode = first.Sub(begun), time.Since(first)
	return run, nil
}

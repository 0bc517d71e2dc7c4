package measure

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gemwire/gemwire/tools/lab/internal/llamacpp"
)

// LlamaCPP is llama.cpp as a contender, as its own llama-bench runs it: all layers
// on the device, flash attention where it can, caches in F16.
type LlamaCPP struct {
	Library *llamacpp.Library
	File    string // without towers
	Backend llamacpp.Backend
	Tokens  int // the longest text of a run
	Vocab   int // as the model's
	Threads int
	// PromptBatch and DecodeBatch are the tokens that it computes at once, in
	// contexts for prompts alone and for decoding behind them: caches of sliding
	// layers are longer with larger ones.
	PromptBatch, DecodeBatch int

	device  string
	model   *llamacpp.Model
	prompts *llamacpp.Context
	decodes *llamacpp.Context
	// How it chooses tokens is found out once: on the device, or from logits that
	// are read back, whichever is faster.
	tried, onDevice bool
}

// Name is the program's.
func (l *LlamaCPP) Name() string { return "llama.cpp " + l.Library.Version }

// Device is what it computes on, and how it chooses there.
func (l *LlamaCPP) Device() string { return l.device }

// Open opens the model and makes the context for prompts.
func (l *LlamaCPP) Open(ctx context.Context) (err error) {
	if l.model, err = l.Library.Load(ctx, l.File, llamacpp.ModelOptions{Backend: l.Backend}); err != nil {
		return err
	}
	if l.model.Vocab != l.Vocab {
		return fmt.Errorf("llama.cpp reads a vocabulary of %d tokens, not %d", l.model.Vocab, l.Vocab)
	}
	if l.device == "" {
		l.device = l.deviceName()
	}
	l.prompts, err = l.model.NewContext(
		llamacpp.ContextOptions{Tokens: l.Tokens, MicroBatch: l.PromptBatch, Threads: l.Threads})
	return err
}

// Close closes the model that is open.
func (l *LlamaCPP) Close() error {
	for _, c := range []*llamacpp.Context{l.prompts, l.decodes} {
		if c != nil {
			c.Close()
		}
	}
	if l.model != nil {
		l.model.Close()
	}
	l.model, l.prompts, l.decodes = nil, nil, nil
	return nil
}

// Run computes a prompt and n tokens behind the first choice.
func (l *LlamaCPP) Run(ctx context.Context, prompt []int32, n int) (Run, error) {
	if n == 0 {
		return runLlamaCPP(ctx, l.prompts, prompt, n)
	}
	if l.decodes == nil {
		if err := l.openDecodes(ctx); err != nil {
			return Run{}, err
		}
	}
	return runLlamaCPP(ctx, l.decodes, prompt, n)
}

// openDecodes makes the context for decoding, which chooses in the faster way.
func (l *LlamaCPP) openDecodes(ctx context.Context) (err error) {
	if !l.tried {
		if err := l.tryChoices(ctx); err != nil {
			return err
		}
	}
	l.decodes, err = l.newContext(l.Tokens, l.onDevice)
	return err
}

func (l *LlamaCPP) newContext(tokens int, onDevice bool) (*llamacpp.Context, error) {
	return l.model.NewContext(
		llamacpp.ContextOptions{Tokens: tokens, MicroBatch: l.DecodeBatch, Threads: l.Threads, OnDevice: onDevice})
}

// triedTokens are decoded in each way, after as many that are not timed.
const triedTokens = 32

func (l *LlamaCPP) tryChoices(ctx context.Context) error {
	var took [2]time.Duration
	for i, onDevice := range []bool{false, true} {
		t, err := l.tryChoice(ctx, onDevice)
		if err := ctx.Err(); err != nil {
			return err
		}
		if err != nil && !onDevice {
			return err
		}
		if took[i] = t; err != nil {
			took[i] = 1 << 62 // this backend cannot
		}
	}
	l.tried, l.onDevice = true, took[1] < took[0]
	way := "logits read back"
	if l.onDevice {
		way = "tokens chosen on it"
	}
	l.device = l.deviceName() + ", " + way
	return nil
}

func (l *LlamaCPP) deviceName() string {
	return fmt.Sprintf("%s (%s)", l.model.Device.Text, l.model.Device.Name)
}

func (l *LlamaCPP) tryChoice(ctx context.Context, onDevice bool) (time.Duration, error) {
	c, err := l.newContext(2*triedTokens, onDevice)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	var run Run
	for range 2 {
		if run, err = runLlamaCPP(ctx, c, []int32{1}, triedTokens); err != nil {
			return 0, err
		}
	}
	return run.Decode, nil
}

func runLlamaCPP(ctx context.Context, c *llamacpp.Context, prompt []int32, n int) (run Run, err error) {
	if c == nil {
		return run, errors.New("no model is open")
	}
	c.Clear()
	begun := time.Now()
	choose := func(behind []int32) error {
		if err := c.Feed(ctx, behind); err != nil {
			return err
		}
		token, err := c.Choose()
		run.Tokens = append(run.Tokens, token)
		return err
	}
	if err := choose(prompt); err != nil {
		return run, err
	}
	first := time.Now()
	for range n {
		if err := choose(run.Tokens[len(run.Tokens)-1:]); err != nil {
			return run, err
		}
	}
	run.Prefill, run.Decode = first.Sub(begun), time.Since(first)
	return run, nil
}

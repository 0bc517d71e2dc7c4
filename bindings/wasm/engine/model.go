package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/tokenizer"
	"github.com/gemwire/gemwire/multimodal"
	"github.com/gemwire/gemwire/wgslkit"
)

// openModel is a model with a number.
type openModel struct {
	*gemma4.Model
	id       int
	media    *multimodal.Media // nil where it takes text only
	audience audience
	training atomic.Bool // it has a run
	watch    *watch      // examines its kernels
}

// phases are gemma4's, in the protocol's words.
var phases = map[gemma4.Phase]string{
	gemma4.PhaseHeader: "header", gemma4.PhaseCheck: "check", gemma4.PhaseWeights: "weights",
	gemma4.PhaseKernels: "kernels",
}

func (p OpenParams) check() error {
	switch p.PowerPreference {
	case "", wgslkit.HighPerformance, wgslkit.LowPower:
	default:
		return fmt.Errorf("%w: powerPreference %q; there are %q and %q", errArgument, p.PowerPreference,
			wgslkit.HighPerformance, wgslkit.LowPower)
	}
	switch p.KVCache {
	case "", gemma4.CacheF16, gemma4.CacheQ8:
	default:
		return fmt.Errorf("%w: kvCache %q; there are %q and %q", errArgument, p.KVCache, gemma4.CacheF16,
			gemma4.CacheQ8)
	}
	if p.MemoryBudget < 0 {
		return fmt.Errorf("%w: a memoryBudget of %d bytes", errArgument, p.MemoryBudget)
	}
	return nil
}

func (c *call) openOptions(p OpenParams, w *watch) gemma4.OpenOptions {
	device := c.engine.options.Device
	if p.Device != "" && p.Device != DeviceAuto {
		device = gemma4.Device(p.Device)
	}
	return gemma4.OpenOptions{
		Device: device, Context: p.Context, KVCache: p.KVCache,
		GPU:     wgslkit.Options{MemoryBudget: p.MemoryBudget, Power: p.PowerPreference, Avoid: w.avoid},
		Kernels: w.examiner(), Examined: w.found, UncheckedKernels: p.Unchecked,
	}
}

func (c *call) open(ctx context.Context) (any, error) {
	p, err := params[OpenParams](c)
	if err != nil {
		return nil, err
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	file, err := c.header(ctx, p)
	if err != nil {
		return nil, err
	}
	watch := c.watch(p)
	options := c.openOptions(p, watch)
	options.Progress = c.progress(gemma4.PhaseHeader)
	model, err := gemma4.OpenGGUF(ctx, file, options)
	if errors.Is(err, wgslkit.ErrBrokenKernel) || errors.Is(err, wgslkit.ErrNoDevice) {
		return nil, smaller{err, &Suggestion{Device: DeviceCPU}}
	}
	if err != nil {
		return nil, err
	}
	if err := c.attachAssistant(ctx, model, options); err != nil {
		return nil, errors.Join(err, model.Close())
	}
	c.event(LoadProgress{Phase: phases[gemma4.PhaseKernels]})
	session, err := model.NewSession(0)
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, closeModel(model, session))
	}
	m, err := attach(model, p.TextOnly)
	if err != nil {
		return nil, errors.Join(err, closeModel(model, session))
	}
	m.watch = watch
	c.engine.addModel(m)
	return OpenResult{Model: m.id, Session: c.engine.addSession(m, session).describe(), Info: model.Info(),
		Media: m.takes()}, nil
}

// closeModel closes a model with its only session, which may be nil.
func closeModel(m *gemma4.Model, s *gemma4.Session) error {
	if s == nil {
		return m.Close()
	}
	return errors.Join(s.Close(), m.Close())
}

func (e *Engine) addModel(m *openModel) {
	e.mu.Lock()
	defer e.mu.Unlock()
	m.id = e.number()
	m.watch.model.Store(int64(m.id))
	e.models[m.id] = m
}

// progressEvery bounds how often a page hears of progress.
const progressEvery = 50 * time.Millisecond

// progress posts the first and last of each phase, and some between.
func (c *call) progress(first gemma4.Phase) func(gemma4.Progress) {
	phase, last := first, time.Time{}
	return func(p gemma4.Progress) {
		now := time.Now()
		if p.Phase == phase && p.Done < p.Total && now.Sub(last) < progressEvery {
			return
		}
		phase, last = p.Phase, now
		c.event(LoadProgress{Phase: phases[p.Phase], Done: p.Done, Total: p.Total})
	}
}

func (c *call) plan(ctx context.Context) (any, error) {
	p, err := params[OpenParams](c)
	if err != nil {
		return nil, err
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	file, err := c.header(ctx, p)
	if err != nil {
		return nil, err
	}
	plan, err := gemma4.PlanFor(file, c.openOptions(p, c.watch(p)))
	if plan == nil {
		return nil, errors.Join(err, file.Close())
	}
	result := PlanResult{Fits: err == nil, Plan: plan}
	if !result.Fits || p.Smaller {
		result.Suggestion = c.suggest(file, p)
	}
	return result, file.Close()
}

func (c *call) close(_ context.Context, m *openModel, _ ModelParams) (any, error) {
	c.engine.stopAnswers(m)
	for _, s := range c.engine.sessionsOf(m) {
		if err := c.engine.end(s); err != nil {
			return nil, err
		}
	}
	if err := c.engine.endRuns(m); err != nil {
		return nil, err
	}
	c.engine.mu.Lock()
	delete(c.engine.models, m.id)
	c.engine.mu.Unlock()
	return Nothing{}, m.Close()
}

// ofModel is the parameters of a request about a model.
type ofModel interface{ model() int }

func (p AdapterParams) model() int     { return p.Model }
func (p UseAdaptersParams) model() int { return p.Model }
func (p ModelParams) model() int       { return p.Model }
func (p TokenizeParams) model() int    { return p.Model }
func (p DetokenizeParams) model() int  { return p.Model }
func (p CountParams) model() int       { return p.Model }
func (p FormParams) model() int        { return p.Model }
func (p SessionParams) model() int     { return p.Model }
func (p PrepareParams) model() int     { return p.Model }
func (p PreviewParams) model() int     { return p.Model }

// onModel handles a request by f, with its parameters and the model that they name.
func onModel[P ofModel](c *call, f func(context.Context, *openModel, P) (any,
	error)) func(context.Context) (any, error) {
	return func(ctx context.Context) (any, error) {
		p, err := params[P](c)
		if err != nil {
			return nil, err
		}
		m, err := c.engine.model(p.model())
		if err != nil {
			return nil, err
		}
		return f(ctx, m, p)
	}
}

// model finds an open model.
func (e *Engine) model(id int) (*openModel, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	m, ok := e.models[id]
	if !ok {
		return nil, fmt.Errorf("%w: model", gemma4.ErrClosed)
	}
	return m, nil
}

func (c *call) tokenize(_ context.Context, m *openModel, p TokenizeParams) (any, error) {
	encode := m.Tokenizer().Encode
	if p.Special {
		encode = m.Tokenizer().EncodeSpecial
	}
	return TokensResult{Tokens: append([]int{}, encode(p.Text)...)}, nil
}

func (c *call) detokenize(_ context.Context, m *openModel, p DetokenizeParams) (any, error) {
	text, err := m.Tokenizer().Decode(p.Tokens, tokenizer.DecodeOptions{})
	return TextResult{Text: text}, err
}

func (c *call) count(ctx context.Context, m *openModel, p CountParams) (any, error) {
	if err := c.place(p.Messages, p.Media); err != nil {
		return nil, err
	}
	prompt, err := m.EncodeChat(ctx, chat.Conversation{
		Messages: p.Messages, Options: chat.Options{
			Tools: p.Tools, EnableThinking: p.Thinking, PreserveThinking: p.PreserveThinking,
		},
	})
	return CountResult{Tokens: len(prompt.Tokens)}, err
}

// checkForm compiles a form for the model, which keeps it for the answer that is to come.
func (c *call) checkForm(ctx context.Context, m *openModel, p FormParams) (any, error) {
	_, err := m.Constraint(ctx, p.Form)
	return Nothing{}, err
}

// memory is what a model holds, or Go alone where none is named.
func (c *call) memory(context.Context) (any, error) {
	p, err := params[ModelParams](c)
	if err != nil {
		return nil, err
	}
	var result MemoryResult
	if p.Model != 0 {
		m, err := c.engine.model(p.Model)
		if err != nil {
			return nil, err
		}
		result.GPU = m.GPUMemory()
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	result.Heap, result.System = stats.HeapAlloc, stats.Sys
	return result, nil
}

package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/tokenizer"
	"github.com/gemwire/gemwire/wgslkit"
)

// BenchOptions say what is measured.
type BenchOptions struct {
	Path   string // as OpenModel takes it
	Prompt string // a user's question; empty is one of our own
	// PromptTokens, where it is more than the prompt has, repeats the prompt up
	// to that many; 0 takes it as it is.
	PromptTokens int
	DecodeTokens int // 0 is 128
	Repeats      int // runs that count, after one that warms up; 0 is 3
	Open         OpenOptions
	// Thermal, where set, tells how hot the device is, in steps of its own from 0
	// (nominal) up: ProcessInfo.thermalState on Apple's systems.
	Thermal func() int
	// Progress, where set, hears of the runs; false ends it.
	Progress func(done, total int) bool
}

const (
	benchPrompt  = "Why is the sky blue?"
	benchTokens  = 128
	benchRepeats = 3
)

// BenchReport is what was measured. Each list has a value for each run.
type BenchReport struct {
	Model      string        `json:"model"`
	FileBytes  int64         `json:"fileBytes"`
	Device     string        `json:"device"`
	DeviceKind gemma4.Device `json:"deviceKind"`
	System     string        `json:"system"` // operating system and architecture
	Version    string        `json:"version"`
	Context    int           `json:"context"`
	Load       struct {
		Seconds float64 `json:"seconds"` // from the path to a session
	} `json:"load"`
	Prefill BenchRate   `json:"prefill"` // from the prompt to the first token
	Decode  BenchRate   `json:"decode"`  // of the tokens after it
	Memory  BenchMemory `json:"memory"`
	Thermal BenchHeat   `json:"thermal"`
	Answer  string      `json:"answer"` // how the model goes on from the prompt, greedily
}

// BenchRate is a speed.
type BenchRate struct {
	Tokens          int       `json:"tokens"`
	Seconds         []float64 `json:"seconds"`
	TokensPerSecond float64   `json:"tokensPerSecond"` // the median
}

// BenchMemory is in bytes.
type BenchMemory struct {
	GPU         map[wgslkit.Purpose]int64 `json:"gpu,omitempty"`
	GPUTotal    int64                     `json:"gpuTotal"`
	ProcessPeak int64                     `json:"processPeak"` // 0 where the system does not tell
}

// BenchHeat are hints whether heat has slowed the runs.
type BenchHeat struct {
	States  []int     `json:"states,omitempty"`  // what the caller told, before each run and at the end
	Celsius []float64 `json:"celsius,omitempty"` // the hottest sensor, likewise
	// Slowdown is the last run's decoding time over the fastest's: 1 where heat,
	// or anything else, has slowed nothing.
	Slowdown float64 `json:"slowdown"`
}

func (o *BenchOptions) settle() error {
	if o.PromptTokens < 0 || o.DecodeTokens < 0 || o.Repeats < 0 {
		return fmt.Errorf("%w: %d prompt tokens, %d decoded, %d repeats", ErrArgument, o.PromptTokens, o.DecodeTokens,
			o.Repeats)
	}
	if o.Prompt == "" {
		o.Prompt = benchPrompt
	}
	if o.DecodeTokens == 0 {
		o.DecodeTokens = benchTokens
	}
	if o.Repeats == 0 {
		o.Repeats = benchRepeats
	}
	return nil
}

// Bench opens a model, measures it, closes it, and reports as JSON.
func (e *Engine) Bench(ctx context.Context, o BenchOptions) ([]byte, error) {
	if err := o.settle(); err != nil {
		return nil, err
	}
	begun := time.Now()
	h, err := e.OpenModel(ctx, o.Path, o.Open)
	if err != nil {
		return nil, err
	}
	defer e.Close(h)
	m, err := enter[*model](e, h, "model")
	if err != nil {
		return nil, err
	}
	defer m.leave()
	session, err := m.NewSession(0)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	b := &benchRun{options: o, model: m.Model, session: session}
	b.report.Load.Seconds = time.Since(begun).Seconds()
	if err := b.measure(ctx); err != nil {
		return nil, err
	}
	return json.MarshalIndent(b.report, "", "  ")
}

// benchRun measures an open model.
type benchRun struct {
	options BenchOptions
	model   *gemma4.Model
	session *gemma4.Session
	prompt  []int32
	report  BenchReport
}

func (b *benchRun) measure(ctx context.Context) error {
	if err := b.encode(ctx); err != nil {
		return err
	}
	for i := range b.options.Repeats + 1 {
		if b.options.Progress != nil && !b.options.Progress(i, b.options.Repeats+1) {
			return errCallback
		}
		b.feelHeat()
		if err := b.once(ctx, i > 0); err != nil {
			return err
		}
	}
	b.feelHeat()
	b.sumUp()
	return nil
}

// encode makes the prompt, as long as was asked for.
func (b *benchRun) encode(ctx context.Context) error {
	question := []chat.Message{{Role: chat.User, Content: chat.Text(b.options.Prompt)}}
	prompt, err := b.model.EncodeChat(ctx, chat.Conversation{Messages: question})
	if err != nil {
		return err
	}
	b.prompt = prompt.Tokens
	for len(b.prompt) < b.options.PromptTokens {
		missing := b.options.PromptTokens - len(b.prompt)
		b.prompt = append(b.prompt, prompt.Tokens[:min(missing, len(prompt.Tokens))]...)
	}
	return nil
}

// once computes the prompt up to its first choice, and the choices after it.
func (b *benchRun) once(ctx context.Context, counts bool) error {
	if err := b.session.Reset(); err != nil {
		return err
	}
	begun := time.Now()
	var first time.Time
	var chosen []int
	for choice, err := range b.session.Choose(ctx, gemma4.Tokens(b.prompt),
		gemma4.Choosing{MaxTokens: b.options.DecodeTokens + 1, Drafts: gemma4.NoDrafts}) {
		if err != nil {
			return err
		}
		if first.IsZero() {
			first = time.Now()
		}
		chosen = append(chosen, int(choice.Token))
	}
	prefill, decode := first.Sub(begun).Seconds(), time.Since(first).Seconds()
	if !counts {
		return b.read(chosen)
	}
	b.report.Prefill.Seconds = append(b.report.Prefill.Seconds, prefill)
	b.report.Decode.Seconds = append(b.report.Decode.Seconds, decode)
	return nil
}

// read keeps what the model said, up to the end of its turn.
func (b *benchRun) read(chosen []int) error {
	t := b.model.Tokenizer()
	if end := slices.IndexFunc(chosen, func(id int) bool { return slices.Contains(t.EOG(), id) }); end >= 0 {
		chosen = chosen[:end]
	}
	var err error
	b.report.Answer, err = t.Decode(chosen, tokenizer.DecodeOptions{})
	return err
}

func (b *benchRun) feelHeat() {
	heat := &b.report.Thermal
	if b.options.Thermal != nil {
		heat.States = append(heat.States, b.options.Thermal())
	}
	if t := hottest(thermalZones); t > 0 {
		heat.Celsius = append(heat.Celsius, t)
	}
}

func (b *benchRun) sumUp() {
	r, info := &b.report, b.model.Info()
	r.Model, r.FileBytes, r.Device, r.DeviceKind, r.Context = info.Name, info.FileSize, info.DeviceName, info.Device,
		b.session.Context()
	r.System, r.Version = runtime.GOOS+"/"+runtime.GOARCH, Version()
	r.Prefill.rate(len(b.prompt))
	r.Decode.rate(b.options.DecodeTokens)
	r.Memory = BenchMemory{GPU: b.model.GPUMemory(), ProcessPeak: peakMemory()}
	for _, n := range r.Memory.GPU {
		r.Memory.GPUTotal += n
	}
	times := r.Decode.Seconds
	r.Thermal.Slowdown = times[len(times)-1] / slices.Min(times)
}

// rate is the median's.
func (r *BenchRate) rate(tokens int) {
	sorted := slices.Sorted(slices.Values(r.Seconds))
	n := len(sorted)
	r.Tokens = tokens
	r.TokensPerSecond = float64(tokens) / ((sorted[(n-1)/2] + sorted[n/2]) / 2)
}

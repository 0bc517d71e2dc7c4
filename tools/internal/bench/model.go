package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/checkup"
)

// ModelOptions say what of a model is measured.
type ModelOptions struct {
	PromptTokens int
	DecodeTokens int
	Depth        int // tokens that are in the caches before
	Repeats      int
	Profile      bool
	// Copy is the device's copy bandwidth in bytes a second, 0 where unknown.
	Copy Series
	// Progress, where set, hears the runs that are done.
	Progress func(done, total int)
}

// ErrOptions says that nothing can be measured as asked.
var ErrOptions = errors.New("nothing to measure")

func (o ModelOptions) check(maxContext int) error {
	switch {
	case o.PromptTokens < 1 || o.DecodeTokens < 1 || o.Repeats < 1 || o.Depth < 0:
		return fmt.Errorf("%w: %d prompt tokens, %d decoded, %d repeats, at depth %d; each must be at least 1, "+
			"the depth 0",
			ErrOptions, o.PromptTokens, o.DecodeTokens, o.Repeats, o.Depth)
	case o.context() > maxContext:
		return fmt.Errorf("%w: %d tokens in total are more than the %d this model can hold", ErrOptions, o.context(),
			maxContext)
	}
	return nil
}

// context is the tokens of a run: the choice that ends it is not computed.
func (o ModelOptions) context() int { return o.Depth + o.PromptTokens + o.DecodeTokens + 1 }

// ModelReport is what was measured. Rates are a second's; gigabytes are 10⁹ bytes.
type ModelReport struct {
	Model        string `json:"model"`
	FileBytes    int64  `json:"file_bytes"`
	Device       string `json:"device"` // its name
	Library      string `json:"library,omitempty"`
	DeviceKind   string `json:"device_kind"` // gpu or cpu
	PromptTokens int    `json:"prompt_tokens"`
	DecodeTokens int    `json:"decode_tokens"`
	Depth        int    `json:"context_depth"`
	Repeats      int    `json:"repeats"`

	Load    LoadReport    `json:"load"`
	Prefill PrefillReport `json:"prefill"`
	Decode  DecodeReport  `json:"decode"`

	DispatchesPerToken int          `json:"dispatches_per_token"`
	CopyGBs            Series       `json:"copy_gigabytes_per_second"`
	Memory             MemoryReport `json:"memory"`
	// Kernels are those that were checked in the same run, on a GPU.
	Kernels *checkup.Findings `json:"kernels_checked,omitempty"`

	Profile []wgslkit.KernelTime `json:"profile,omitempty"`
}

// LoadReport is the time from the file's name to a model, and from there to its first
// session, which may answer: a session's kernels are compiled with it.
type LoadReport struct {
	Seconds        float64 `json:"seconds"`
	SessionSeconds float64 `json:"session_seconds"`
}

// PrefillReport is the time from a prompt to the first token.
type PrefillReport struct {
	TokensPerSecond Series `json:"tokens_per_second"`
	Seconds         Series `json:"seconds"`
}

// DecodeReport is the time of the tokens that follow.
type DecodeReport struct {
	TokensPerSecond Series  `json:"tokens_per_second"`
	MsPerToken      Series  `json:"ms_per_token"`
	BytesPerToken   int64   `json:"weight_bytes_per_token"`
	GBs             float64 `json:"weight_gigabytes_per_second"`
	OfCopy          float64 `json:"of_copy_bandwidth"` // the weights read a second over it
}

// MemoryReport is what was in use at the end; buffers do not grow with tokens.
type MemoryReport struct {
	GPU         map[wgslkit.Purpose]int64 `json:"gpu_bytes,omitempty"`
	GPUTotal    int64                     `json:"gpu_total_bytes"`
	ProcessPeak int64                     `json:"process_peak_bytes"` // 0 where the system does not tell
}

// Model measures an open model that took loading to open. It makes a session
// of its own.
func Model(ctx context.Context, m *gemma4.Model, loading time.Duration, o ModelOptions) (ModelReport, error) {
	info := m.Info()
	report := ModelReport{
		Model: info.Name, FileBytes: info.FileSize, Device: info.DeviceName, DeviceKind: string(info.Device),
		Library: Library(info.Adapter), Kernels: info.Kernels,
		PromptTokens: o.PromptTokens, DecodeTokens: o.DecodeTokens, Depth: o.Depth, Repeats: o.Repeats,
		Load: LoadReport{Seconds: loading.Seconds()},
	}
	if err := o.check(info.MaxContext); err != nil {
		return report, err
	}
	if o.Profile && info.Device == gemma4.DeviceCPU {
		return report, fmt.Errorf("%w: a profile shows a GPU's kernels; leave it out on the CPU, or use --device gpu",
			ErrOptions)
	}
	begun := time.Now()
	session, err := m.NewSession(o.context())
	if err != nil {
		return report, err
	}
	defer session.Close()
	report.Load.SessionSeconds = time.Since(begun).Seconds()
	r := &modelRun{session: session, options: o, tokens: RandomTokens(o.Depth+o.PromptTokens, info.Vocab)}
	if err := r.repeat(ctx); err != nil {
		return report, err
	}
	report.take(m, session, r)
	if o.Profile {
		if report.Profile, err = session.Profile(ctx); err != nil {
			return report, fmt.Errorf("profile: %w", err)
		}
	}
	return report, nil
}

func (report *ModelReport) take(m *gemma4.Model, session *gemma4.Session, r *modelRun) {
	o := r.options
	report.Prefill = PrefillReport{
		TokensPerSecond: Rates(float64(o.PromptTokens), r.prefill), Seconds: SeriesOf(r.prefill),
	}
	n := float64(o.DecodeTokens)
	report.Decode = DecodeReport{
		TokensPerSecond: Rates(n, r.decode), MsPerToken: Scaled(1000/n, r.decode), BytesPerToken: m.BytesPerToken(),
	}
	bytes := float64(report.Decode.BytesPerToken) * report.Decode.TokensPerSecond.Median
	report.Decode.GBs = bytes / 1e9
	report.CopyGBs = o.Copy.Times(1e-9)
	if o.Copy.Median > 0 {
		report.Decode.OfCopy = bytes / o.Copy.Median
	}
	report.DispatchesPerToken = session.Dispatches()
	report.Memory = MemoryReport{GPU: m.GPUMemory(), ProcessPeak: processPeak()}
	for _, n := range report.Memory.GPU {
		report.Memory.GPUTotal += n
	}
}

// Times is the series in another unit.
func (s Series) Times(factor float64) Series { return Scaled(factor, s.Runs) }

// RandomTokens are the same each time.
func RandomTokens(n, vocab int) []int32 {
	rng := rand.New(rand.NewPCG(1, 2))
	tokens := make([]int32, n)
	for i := range tokens {
		tokens[i] = int32(rng.IntN(vocab))
	}
	return tokens
}

// modelRun collects times in seconds.
type modelRun struct {
	session         *gemma4.Session
	options         ModelOptions
	tokens          []int32
	prefill, decode []float64
}

// repeat runs once to warm up and then as often as asked.
func (r *modelRun) repeat(ctx context.Context) error {
	for i := range r.options.Repeats + 1 {
		if r.options.Progress != nil {
			r.options.Progress(i, r.options.Repeats+1)
		}
		prefill, decode, err := r.once(ctx)
		if err != nil {
			return err
		}
		if i > 0 {
			r.prefill, r.decode = append(r.prefill, prefill), append(r.decode, decode)
		}
	}
	return nil
}

// once computes the tokens up to the depth without a clock, then the prompt up
// to its first choice, and the choices after it, with one.
func (r *modelRun) once(ctx context.Context) (prefill, decode float64, err error) {
	if err := r.session.Reset(); err != nil {
		return 0, 0, err
	}
	if d := r.options.Depth; d > 0 {
		for _, err := range r.session.Choose(ctx, gemma4.Tokens(r.tokens[:d]), gemma4.Choosing{MaxTokens: 1}) {
			if err != nil {
				return 0, 0, err
			}
		}
	}
	begun := time.Now()
	var first time.Time
	for _, err := range r.session.Choose(ctx, gemma4.Tokens(r.tokens),
		gemma4.Choosing{MaxTokens: r.options.DecodeTokens + 1, Drafts: gemma4.NoDrafts}) {
		if err != nil {
			return 0, 0, err
		}
		if first.IsZero() {
			first = time.Now()
		}
	}
	return first.Sub(begun).Seconds(), time.Since(first).Seconds(), nil
}

// Library is what drives an adapter, if there is one.
func Library(adapter *wgslkit.Info) string {
	if adapter == nil {
		return ""
	}
	return adapter.Library
}

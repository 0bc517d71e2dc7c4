package checkup

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
	"github.com/gemwire/gemwire/wgslkit/ops/opstest"
)

// Options say what is examined.
type Options struct {
	Version string          // of gemwire
	GPU     wgslkit.Options // its Avoid and Disable are not heeded: everything is tried
	// Cases are the cases for a device; nil is opstest.Cases.
	Cases func(*ops.Kit) []opstest.Case
	// Brief runs a few cases in place of all where compiling is slow.
	Brief bool
	// Progress, where set, hears the cases done, with the next one's name.
	Progress func(done, total int, next string)
}

// Examine runs every case on the device. What comes out wrong is in the
// verdict; an error is that there is no device, or that ctx ended.
func Examine(ctx context.Context, o Options) (*Verdict, error) {
	o.GPU.Avoid, o.GPU.Disable = nil, wgslkit.Features{}
	if o.Cases == nil {
		o.Cases = opstest.Cases
	}
	begun := time.Now()
	e := &examination{options: o}
	if err := e.open(wgslkit.Features{}); err != nil {
		return nil, err
	}
	defer e.close()
	dev := e.kit.Device()
	e.brief = o.Brief && dev.Info().SlowCompiler
	e.verdict = &Verdict{
		Version: o.Version, Brief: e.brief, Time: begun.UTC(), Info: dev.Info(), Drivers: Drivers(),
		Limits: dev.Limits(), Features: dev.Features(),
	}
	results, err := e.all(ctx)
	if err != nil {
		return nil, err
	}
	if err := e.withoutFeatures(ctx, results); err != nil {
		return nil, err
	}
	e.conclude(results)
	e.verdict.Seconds = time.Since(begun).Seconds()
	return e.verdict, nil
}

// examination is one under way.
type examination struct {
	options Options
	verdict *Verdict
	kit     *ops.Kit
	brief   bool
}

func (e *examination) cases() []opstest.Case {
	cases := e.options.Cases(e.kit)
	if e.brief {
		return briefOf(cases)
	}
	return cases
}

func (e *examination) open(disable wgslkit.Features) error {
	options := e.options.GPU
	options.Disable = disable
	dev, err := wgslkit.Open(options)
	if err != nil {
		return err
	}
	e.kit = ops.New(dev)
	return nil
}

// close gives the device back. What a failed case left on it is no matter.
func (e *examination) close() {
	if e.kit != nil {
		_ = e.kit.Device().Close()
		e.kit = nil
	}
}

// result is one case that was run.
type result struct {
	opstest.Case
	kernels []wgslkit.KernelID
	relErr  float64
	err     error
	with    []string // features without which it passes
}

func (r *result) passed() bool { return r.err == nil && r.relErr <= r.Tolerance } // NaN is not

// skipped says that the device has no room for the case.
func (r *result) skipped() bool { return errors.Is(r.err, wgslkit.ErrOutOfMemory) }

func (e *examination) all(ctx context.Context) ([]*result, error) {
	cases := e.cases()
	results := make([]*result, len(cases))
	for i, c := range cases {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if e.options.Progress != nil {
			e.options.Progress(i, len(cases), c.Op)
		}
		results[i] = e.one(ctx, c)
		if errors.Is(results[i].err, wgslkit.ErrDeviceLost) {
			e.close()
			if err := e.open(wgslkit.Features{}); err != nil {
				return nil, fmt.Errorf("%s %s: %w; and no device could be opened after it: %w", c.Op, c.Name,
					results[i].err, err)
			}
		}
	}
	return results, ctx.Err()
}

func (e *examination) one(ctx context.Context, c opstest.Case) *result {
	r := &result{Case: c}
	stop := e.kit.Device().TraceKernels()
	r.relErr, r.err = c.Run(ctx, e.kit)
	r.kernels = stop()
	return r
}

// features are those that kernels have variants for.
var features = []struct {
	name string
	of   func(*wgslkit.Features) *bool
}{
	{"subgroups", func(f *wgslkit.Features) *bool { return &f.Subgroups }},
	{"f16", func(f *wgslkit.Features) *bool { return &f.ShaderF16 }},
	{"packed dot products", func(f *wgslkit.Features) *bool { return &f.PackedDot }},
	{"subgroup matrices", func(f *wgslkit.Features) *bool { return &f.SubgroupMatrix }},
}

// withoutFeatures tries what failed again, without each feature in turn.
func (e *examination) withoutFeatures(ctx context.Context, results []*result) error {
	for _, f := range features {
		if has := e.verdict.Features; !*f.of(&has) || !anyFailed(results) {
			continue
		}
		var disable wgslkit.Features
		*f.of(&disable) = true
		e.close()
		if err := e.open(disable); err != nil {
			return err
		}
		cases := map[string]opstest.Case{}
		for _, c := range e.cases() {
			cases[c.Op+" "+c.Name] = c
		}
		for _, r := range results {
			c, ok := cases[r.Op+" "+r.Name]
			if r.passed() || r.skipped() || !ok {
				continue
			}
			if e.one(ctx, c).passed() {
				r.with = append(r.with, f.name)
				*f.of(&e.verdict.Avoid.Features) = true
			}
		}
	}
	return ctx.Err()
}

func anyFailed(results []*result) bool {
	for _, r := range results {
		if !r.passed() && !r.skipped() {
			return true
		}
	}
	return false
}

// conclude counts, and names what is to be avoided.
func (e *examination) conclude(results []*result) {
	v := e.verdict
	var guilty []*result
	for _, r := range results {
		o := v.op(r.Op)
		switch {
		case r.skipped():
			o.Skipped++
		case r.passed():
			o.Passed++
			o.Worst = max(o.Worst, r.relErr/math.Max(r.Tolerance, math.SmallestNonzeroFloat64))
		default:
			o.Failed++
			if len(r.with) == 0 {
				guilty = append(guilty, r)
			}
		}
	}
	kernels := blame(guilty, results)
	for _, r := range results {
		if !r.passed() && !r.skipped() {
			v.Failures = append(v.Failures, r.failure(kernels[r]))
		}
	}
	v.Avoid.Kernels = union(kernels)
	for _, r := range results {
		for _, k := range r.kernels {
			if r.passed() && !v.knows(k) && !v.Avoid.Has(k) {
				v.Right = append(v.Right, k)
			}
		}
	}
}

func (r *result) failure(kernels []string) Failure {
	f := Failure{Op: r.Op, Case: r.Name, Error: finite(r.relErr), Tolerance: r.Tolerance, With: r.with,
		Kernels: kernels}
	if r.err != nil {
		f.Error, f.Message = 0, strings.Join(strings.Fields(r.err.Error()), " ")
	}
	return f
}

// finite is e as JSON can hold it.
func finite(e float64) float64 {
	if math.IsNaN(e) {
		return math.MaxFloat64
	}
	return min(e, math.MaxFloat64)
}

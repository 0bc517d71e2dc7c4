package wgslkit

import (
	"cmp"
	"slices"
	"time"
)

// KernelTime is what one kernel took in a profiled replay, all its dispatches together.
type KernelTime struct {
	Kernel     string        `json:"kernel"`
	Label      string        `json:"label"`
	Dispatches int           `json:"dispatches"`
	Time       time.Duration `json:"nanoseconds"`
}

// Profile replays the program once with a timestamp pair around each dispatch
// and sums by label and kernel, slowest first. Every dispatch gets a pass of
// its own, so the sum is more than an unprofiled replay takes. Timestamps
// count nanoseconds where the driver's period is 1 ns (NVIDIA, llvmpipe).
func (p *Program) Profile(width int) ([]KernelTime, error) {
	p.setWidth(width)
	times, err := p.device.backend.SubmitTimed(p.replay, p.grids)
	if err != nil {
		return nil, err
	}
	type key struct{ kernel, label string }
	sums := map[key]*KernelTime{}
	var out []*KernelTime
	for _, t := range times {
		c := p.calls[t.Step]
		k := key{c.Kernel.name, c.Label}
		if sums[k] == nil {
			sums[k] = &KernelTime{Kernel: k.kernel, Label: k.label}
			out = append(out, sums[k])
		}
		sums[k].Dispatches++
		sums[k].Time += time.Duration(t.Nanoseconds)
	}
	return sorted(out), nil
}

func sorted(times []*KernelTime) []KernelTime {
	slices.SortStableFunc(times, func(a, b *KernelTime) int { return cmp.Compare(b.Time, a.Time) })
	out := make([]KernelTime, len(times))
	for i, t := range times {
		out[i] = *t
	}
	return out
}

// Total sums the times of several replays by label and kernel, slowest first.
func Total(times []KernelTime) []KernelTime {
	type key struct{ kernel, label string }
	sums := map[key]*KernelTime{}
	var out []*KernelTime
	for _, t := range times {
		k := key{t.Kernel, t.Label}
		if sums[k] == nil {
			sums[k] = &KernelTime{Kernel: t.Kernel, Label: t.Label}
			out = append(out, sums[k])
		}
		sums[k].Dispatches += t.Dispatches
		sums[k].Time += t.Time
	}
	return sorted(out)
}

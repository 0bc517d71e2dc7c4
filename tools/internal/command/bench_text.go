package command

import (
	"fmt"
	"io"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/gemwire/gemwire/tools/internal/bench"
	"github.com/gemwire/gemwire/wgslkit"
)

// printModelReport shows a model's figures to people.
func printModelReport(w io.Writer, r bench.ModelReport) {
	line := func(label, format string, values ...any) {
		fmt.Fprintf(w, "%-9s %s\n", label, fmt.Sprintf(format, values...))
	}
	line("model", "%s, %s", r.Model, humanize.Bytes(uint64(r.FileBytes)))
	line("device", "%s", r.Device)
	if r.Library != "" {
		line("library", "%s", r.Library)
	}
	line("load", "%.2f s, and %.2f s to its first session", r.Load.Seconds, r.Load.SessionSeconds)
	at := ""
	if r.Depth > 0 {
		at = fmt.Sprintf(" after %d others", r.Depth)
	}
	line("prefill", "%s tokens/s  (%d tokens%s; %s)", figure(r.Prefill.TokensPerSecond.Median), r.PromptTokens, at, span(r.Prefill.TokensPerSecond))
	line("decode", "%s tokens/s, %.3f ms a token  (%d tokens; %s)",
		figure(r.Decode.TokensPerSecond.Median), r.Decode.MsPerToken.Median, r.DecodeTokens, span(r.Decode.TokensPerSecond))
	line("weights", "%s a token: %s, %.0f %% of the %s at which memory is copied",
		humanize.Bytes(uint64(r.Decode.BytesPerToken)), gigabytes(r.Decode.GBs), 100*r.Decode.OfCopy, gigabytes(r.CopyGBs.Median))
	if r.DispatchesPerToken > 0 {
		line("kernels", "%d dispatches a token", r.DispatchesPerToken)
	}
	line("memory", "%s", memoryLine(r.Memory))
	if len(r.Profile) > 0 {
		printProfile(w, r.Profile)
	}
}

// figure shows three digits or more.
func figure(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

func span(s bench.Series) string {
	if len(s.Runs) == 1 {
		return "one run"
	}
	return fmt.Sprintf("%d runs from %s to %s, spread %.1f %%", len(s.Runs), figure(s.Min), figure(s.Max), 100*s.Spread())
}

func memoryLine(m bench.MemoryReport) string {
	text := ""
	if m.GPUTotal > 0 {
		text = fmt.Sprintf("%s on the GPU (weights %s, cache %s, work %s)", humanize.Bytes(uint64(m.GPUTotal)),
			humanize.Bytes(uint64(m.GPU[wgslkit.Weights])), humanize.Bytes(uint64(m.GPU[wgslkit.Cache])), humanize.Bytes(uint64(m.GPU[wgslkit.Activations])))
	}
	if m.ProcessPeak > 0 {
		if text != "" {
			text += "; "
		}
		text += "process at most " + humanize.Bytes(uint64(m.ProcessPeak))
	}
	return text
}

// printProfile shows the slowest kernels first. Each dispatch was timed by
// itself, so their sum is more than a step takes.
func printProfile(w io.Writer, times []wgslkit.KernelTime) {
	var sum time.Duration
	dispatches := 0
	for _, k := range times {
		sum += k.Time
		dispatches += k.Dispatches
	}
	fmt.Fprintf(w, "\n%10s %6s %10s  %s\n", "µs", "%", "dispatches", "step and kernel")
	for _, k := range times {
		fmt.Fprintf(w, "%10.1f %6.1f %10d  %s: %s\n", float64(k.Time.Nanoseconds())/1e3, 100*k.Time.Seconds()/max(sum.Seconds(), 1e-12), k.Dispatches, k.Label, k.Kernel)
	}
	fmt.Fprintf(w, "%10.1f %6s %10d  all, each timed by itself\n", float64(sum.Nanoseconds())/1e3, "", dispatches)
}

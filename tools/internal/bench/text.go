package bench

import (
	"fmt"
	"io"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/gemwire/gemwire/wgslkit"
)

// Figure shows three digits or more.
func Figure(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// Span is the least and the most of a series, in words.
func Span(s Series) string {
	if len(s.Runs) == 1 {
		return "one run"
	}
	return fmt.Sprintf("%d runs from %s to %s, spread %.1f %%", len(s.Runs), Figure(s.Min), Figure(s.Max),
		100*s.Spread())
}

// PrintProfile shows the slowest kernels first. Each dispatch was timed by
// itself, so their sum is more than a step takes.
func PrintProfile(w io.Writer, times []wgslkit.KernelTime) {
	var sum time.Duration
	dispatches := 0
	for _, k := range times {
		sum += k.Time
		dispatches += k.Dispatches
	}
	fmt.Fprintf(w, "\n%10s %6s %10s  %s\n", "µs", "%", "dispatches", "step and kernel")
	for _, k := range times {
		fmt.Fprintf(w, "%10.1f %6.1f %10d  %s: %s\n", float64(k.Time.Nanoseconds())/1e3,
			100*k.Time.Seconds()/max(sum.Seconds(), 1e-12), k.Dispatches, k.Label, k.Kernel)
	}
	fmt.Fprintf(w, "%10.1f %6s %10d  all, each timed by itself\n", float64(sum.Nanoseconds())/1e3, "", dispatches)
}

// Gigabytes is a bandwidth of n GB a second, in words.
func Gigabytes(n float64) string { return humanize.CommafWithDigits(n, 1) + " GB/s" }

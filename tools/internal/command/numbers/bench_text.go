package numbers

import (
	"fmt"
	"io"

	"github.com/dustin/go-humanize"

	"github.com/gemwire/gemwire/tools/internal/bench"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/checkup"
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
		at = fmt.Sprintf(" after %s", cli.Counted(r.Depth, "other"))
	}
	line("prefill", "%s tokens/s  (%s%s; %s)", bench.Figure(r.Prefill.TokensPerSecond.Median),
		cli.Counted(r.PromptTokens, "token"),
		at, bench.Span(r.Prefill.TokensPerSecond))
	line("decode", "%s tokens/s, %.3f ms per token  (%s; %s)",
		bench.Figure(r.Decode.TokensPerSecond.Median), r.Decode.MsPerToken.Median, cli.Counted(r.DecodeTokens, "token"),
		bench.Span(r.Decode.TokensPerSecond))
	line("weights", "%s per token: %s, %.0f %% of the copy bandwidth of %s",
		humanize.Bytes(uint64(r.Decode.BytesPerToken)), bench.Gigabytes(r.Decode.GBs), 100*r.Decode.OfCopy,
		bench.Gigabytes(r.CopyGBs.Median))
	if r.DispatchesPerToken > 0 {
		line("kernels", "%d dispatches per token", r.DispatchesPerToken)
	}
	if k := r.Kernels; k != nil {
		line("checked", "%s", kernelsLine(k))
	}
	line("memory", "%s", memoryLine(r.Memory))
	if len(r.Profile) > 0 {
		bench.PrintProfile(w, r.Profile)
	}
}

// kernelsLine says what the figures stand on.
func kernelsLine(k *checkup.Findings) string {
	text := fmt.Sprintf("%d of %d kernels right on this device, in this run", k.Kernels, k.Kernels)
	if n := len(k.LeftOut); n > 0 {
		text += fmt.Sprintf("; %d wrong ones are left out: %s", n, k.Names())
	}
	return text
}

func memoryLine(m bench.MemoryReport) string {
	text := ""
	if m.GPUTotal > 0 {
		text = fmt.Sprintf("%s on the GPU (weights %s, cache %s, work %s)", humanize.Bytes(uint64(m.GPUTotal)),
			humanize.Bytes(uint64(m.GPU[wgslkit.Weights])), humanize.Bytes(uint64(m.GPU[wgslkit.Cache])),
			humanize.Bytes(uint64(m.GPU[wgslkit.Activations])))
	}
	if m.ProcessPeak > 0 {
		if text != "" {
			text += "; "
		}
		text += "process at most " + humanize.Bytes(uint64(m.ProcessPeak))
	}
	return text
}

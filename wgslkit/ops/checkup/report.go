package checkup

import (
	"fmt"
	"io"
	"runtime"
	"strings"
)

// The lines of a report that may be many.
const (
	maxFailureLines = 12
	maxAvoidLines   = 8
)

// WriteReport writes the verdict as text that fits in a bug report, in fewer
// than 60 lines.
func (v *Verdict) WriteReport(w io.Writer) error {
	var b strings.Builder
	v.writeDevice(&b)
	v.writeOps(&b)
	v.writeFailures(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func (v *Verdict) writeDevice(b *strings.Builder) {
	line := func(label, format string, values ...any) {
		fmt.Fprintf(b, "%-10s %s\n", label, fmt.Sprintf(format, values...))
	}
	const mib = 1 << 20
	l := v.Limits
	line("gemwire", "%s, %s %s/%s, %d processors", v.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH,
		runtime.NumCPU())
	line("examined", "%s, in %.1f s", v.Time.Format("2006-01-02 15:04 MST"), v.Seconds)
	line("adapter", "%s (%s)", v.Info.Name, v.Info.Kind)
	line("driver", "%s, vendor %s, %s", v.Info.Backend, orUnknown(v.Info.Vendor),
		orUnknown(strings.Trim(v.Info.Driver+", "+v.Drivers, ", ")))
	if v.Info.Library != "" {
		line("library", "%s", v.Info.Library)
	}
	if v.Info.LibraryRefused != "" {
		line("", "not used: %s", v.Info.LibraryRefused)
	}
	line("features", "%s", v.featureList())
	if len(v.Info.SubgroupMatrices) > 0 {
		line("matrices", "%v", v.Info.SubgroupMatrices)
	}
	line("limits", "buffers of %d MiB, bindings of %d MiB, %d storage buffers in a kernel, offsets in steps of %d",
		l.MaxBufferSize/mib, l.MaxStorageBindingSize/mib, l.MaxStorageBuffers, l.MinStorageAlignment)
	line("", "workgroups of %d threads with %d bytes, %d a dimension", l.MaxWorkgroupInvocations, l.MaxWorkgroupStorage,
		l.MaxWorkgroupsPerDimension)
}

func orUnknown(text string) string {
	if text == "" {
		return "unknown"
	}
	return text
}

func (v *Verdict) featureList() string {
	var names []string
	if v.Features.Timestamps {
		names = append(names, "timestamps")
	}
	for _, f := range features {
		has, avoid := v.Features, v.Avoid.Features
		if *f.of(&has) {
			name := f.name
			if *f.of(&avoid) {
				name += " (computes wrongly, avoided)"
			}
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return "none of those that kernels make use of"
	}
	return strings.Join(names, ", ")
}

func (v *Verdict) writeOps(b *strings.Builder) {
	fmt.Fprintf(b, "\n%-14s %6s %6s %8s  %s\n", "kernels", "right", "wrong", "too big",
		"largest error, as a part of what is allowed")
	for _, o := range v.Ops {
		fmt.Fprintf(b, "%-14s %6d %6d %8d  %.2g\n", o.Op, o.Passed, o.Failed, o.Skipped, o.Worst)
	}
	passed, failed, skipped := v.Counts()
	fmt.Fprintf(b, "%-14s %6d %6d %8d\n", "all", passed, failed, skipped)
}

func (v *Verdict) writeFailures(b *strings.Builder) {
	if v.Healthy() {
		fmt.Fprintf(b, "\nEvery kernel computes as its twin on the CPU does.\n")
		return
	}
	fmt.Fprintf(b, "\nwrong:\n")
	for i, f := range v.Failures {
		if i == maxFailureLines {
			fmt.Fprintf(b, "  and %d more\n", len(v.Failures)-i)
			break
		}
		fmt.Fprintf(b, "  %s %s: %s\n", f.Op, f.Case, f.sentence())
	}
	if kernels := v.Avoid.Kernels; len(kernels) > 0 {
		fmt.Fprintf(b, "avoided from now on:\n")
		for i, k := range kernels {
			if i == maxAvoidLines {
				fmt.Fprintf(b, "  and %d more\n", len(kernels)-i)
				break
			}
			fmt.Fprintf(b, "  %s\n", k)
		}
		fmt.Fprintf(b, "Models that need one of these do not open on this GPU: update its driver and run gemwire "+
			"doctor again, or compute with --device cpu.\n")
	}
}

// maxMessage bounds a failure's message, in bytes.
const maxMessage = 160

func (f Failure) sentence() string {
	text := fmt.Sprintf("error %.3g, at most %.3g is right", f.Error, f.Tolerance)
	if f.Message != "" {
		text = strings.ToValidUTF8(f.Message[:min(len(f.Message), maxMessage)], "")
	}
	if len(f.With) > 0 {
		text += "; right without " + strings.Join(f.With, ", or without ")
	}
	return text
}

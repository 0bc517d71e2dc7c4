package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/tools/internal/bench"
	"github.com/gemwire/gemwire/tools/internal/terminal"
	"github.com/gemwire/gemwire/wgslkit"
)

// benchOpsCommand measures single kernels.
type benchOpsCommand struct {
	env     *environment
	device  deviceFlags
	only    []string
	types   []string
	sizes   []string
	repeats int
	json    bool
}

func newBenchOps(env *environment) *cobra.Command {
	b := &benchOpsCommand{env: env}
	cmd := &cobra.Command{
		Use:   "ops",
		Short: "Measure single kernels on the GPU",
		Long: `Measure single kernels on the GPU: what a dispatch takes that waits for the one
before it, the bytes that it must read a second, beside the bandwidth at which
the GPU copies memory and beside that of copies that move just as many bytes,
and its operations a second.`,
		Example: examples(
			`gemwire bench ops`,
			`gemwire bench ops --only matvec --types Q4_K,Q6_K --sizes 64MB,256MB`,
			`gemwire bench ops --only attention,sample --json`,
		),
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return b.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&b.only, "only", nil, fmt.Sprintf("measure these `OPS` alone, of %v", bench.OpNames()))
	flags.StringSliceVar(&b.types, "types", nil, "measure matrices of these `TYPES`, such as Q4_K,F16 (default: all)")
	flags.StringSliceVar(&b.sizes, "sizes", nil, "measure products with a vector for matrices of these `SIZES` (default 4MiB,64MiB)")
	flags.IntVar(&b.repeats, "repeats", 5, "measure `N` times")
	flags.BoolVar(&b.json, "json", false, "print the figures as JSON")
	flags.StringVar(&b.device.adapter, "adapter", "", "take the GPU with this in its `NAME`")
	b.device.registerWGPU(flags)
	flags.Var(&b.device.maxBinding, "max-binding", "behave like a GPU that binds at most this `SIZE` at once, such as 128MiB")
	return cmd
}

func (b *benchOpsCommand) run(ctx context.Context) error {
	options, err := b.options()
	if err != nil {
		return usageError{err}
	}
	dev, err := wgslkit.Open(b.device.gpu())
	if err != nil {
		return fmt.Errorf("%w%s", err, adviceFor(err, noReference))
	}
	err = b.measure(ctx, dev, options)
	if err = errors.Join(err, dev.Close()); err != nil {
		return fmt.Errorf("%w%s", err, adviceFor(err, noReference))
	}
	return nil
}

func (b *benchOpsCommand) options() (bench.OpOptions, error) {
	o := bench.OpOptions{Only: b.only, Repeats: b.repeats}
	if err := bench.CheckOps(b.only); err != nil {
		return o, err
	}
	for _, name := range b.types {
		t, err := quant.Parse(name)
		if err != nil {
			return o, err
		}
		o.Types = append(o.Types, t)
	}
	for _, text := range b.sizes {
		var size byteSize
		if err := size.Set(text); err != nil {
			return o, err
		}
		o.Sizes = append(o.Sizes, int64(size))
	}
	return o, nil
}

func (b *benchOpsCommand) measure(ctx context.Context, dev *wgslkit.Device, o bench.OpOptions) (err error) {
	progress := terminal.NewProgress(b.env.err, false)
	defer progress.Clear()
	if o.Copy, err = bench.CopyGPU(dev); err != nil {
		return err
	}
	var results []bench.OpResult
	if !b.json {
		fmt.Fprintf(b.env.out, "device    %s\ncopies    %s\n\n%-10s %-46s %-5s %10s %8s %12s %7s %8s %10s\n", dev.Info().Name, gigabytes(o.Copy.Median/1e9),
			"op", "shape", "type", "µs", "spread", "GB/s", "of copy", "of alike", "GFLOP/s")
	}
	err = bench.Ops(ctx, dev, o, func(r bench.OpResult) error {
		progress.Clear()
		results = append(results, r)
		if b.json {
			progress.Set("measuring "+r.Op, int64(len(results)), 0)
			return nil
		}
		alike := ""
		if r.OfAlike > 0 {
			alike = fmt.Sprintf("%.0f %%", 100*r.OfAlike)
		}
		_, err := fmt.Fprintf(b.env.out, "%-10s %-46s %-5s %10s %6.1f %% %12s %5.0f %% %8s %10s\n", r.Op, r.Shape, r.Type,
			figure(r.Microseconds.Median), 100*r.Microseconds.Spread(), humanize.CommafWithDigits(r.GBs, 1), 100*r.OfCopy, alike, figure(r.GFLOPs))
		return err
	})
	if err != nil || !b.json {
		return err
	}
	return b.env.printJSON(map[string]any{
		"device": dev.Info().Name, "info": dev.Info(), "copy_gigabytes_per_second": o.Copy.Median / 1e9, "repeats": b.repeats, "ops": results,
	})
}

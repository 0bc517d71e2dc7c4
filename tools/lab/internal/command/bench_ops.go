package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/tools/internal/bench"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/terminal"
	"github.com/gemwire/gemwire/tools/lab/internal/measure"
	"github.com/gemwire/gemwire/wgslkit"
)

// benchOpsCommand measures single kernels.
type benchOpsCommand struct {
	env     *cli.Environment
	device  cli.DeviceFlags
	only    []string
	types   []string
	sizes   []string
	repeats int
	json    bool
}

func newBenchOps(env *cli.Environment) *cobra.Command {
	b := &benchOpsCommand{env: env}
	cmd := &cobra.Command{
		Use:   "ops",
		Short: "Measure single kernels on the GPU",
		Long: `Measure single kernels on the GPU: the time of a dispatch that waits for the one
before it, the bytes it reads per second, compared with the bandwidth at which
the GPU copies memory and with copies of the same size,
and its operations per second.`,
		Example: cli.Examples(
			`lab bench ops`,
			`lab bench ops --only matvec --types Q4_K,Q6_K --sizes 64MB,256MB`,
			`lab bench ops --only attention,sample --json`,
		),
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return b.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&b.only, "only", nil, fmt.Sprintf("measure these `OPS` alone, of %v", measure.OpNames()))
	flags.StringSliceVar(&b.types, "types", nil, "measure matrices of these `TYPES`, such as Q4_K,F16 (default: all)")
	flags.StringSliceVar(&b.sizes, "sizes", nil,
		"measure products with a vector for matrices of these `SIZES` (default 4MiB,64MiB)")
	flags.IntVar(&b.repeats, "repeats", 5, "measure `N` times")
	flags.BoolVar(&b.json, "json", false, "print the figures as JSON")
	b.device.RegisterGPU(flags, "use the GPU with this in its `NAME`")
	b.device.RegisterWGPU(flags)
	flags.Var(&b.device.MaxBinding, "max-binding",
		"behave like a GPU that binds at most this `SIZE` at once, such as 128MiB")
	return cmd
}

func (b *benchOpsCommand) run(ctx context.Context) error {
	options, err := b.options()
	if err != nil {
		return cli.Usage(err)
	}
	dev, err := wgslkit.Open(b.device.GPU())
	if err != nil {
		return cli.Advised(err)
	}
	err = b.measure(ctx, dev, options)
	if err = errors.Join(err, dev.Close()); err != nil {
		return cli.Advised(err)
	}
	return nil
}

func (b *benchOpsCommand) options() (measure.OpOptions, error) {
	o := measure.OpOptions{Only: b.only, Repeats: b.repeats}
	if err := measure.CheckOps(b.only); err != nil {
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
		var size cli.ByteSize
		if err := size.Set(text); err != nil {
			return o, err
		}
		o.Sizes = append(o.Sizes, int64(size))
	}
	return o, nil
}

func (b *benchOpsCommand) measure(ctx context.Context, dev *wgslkit.Device, o measure.OpOptions) (err error) {
	progress := terminal.NewProgress(b.env.Err, false)
	defer progress.Clear()
	if o.Copy, err = bench.CopyGPU(dev); err != nil {
		return err
	}
	var results []measure.OpResult
	if !b.json {
		fmt.Fprintf(b.env.Out, "device    %s\ncopies    %s\n\n%-10s %-46s %-5s %10s %8s %12s %7s %8s %10s\n",
			dev.Info().Name,
			bench.Gigabytes(o.Copy.Median/1e9), "op", "shape", "type", "µs", "spread", "GB/s", "of copy", "of alike",
			"GFLOP/s")
	}
	err = measure.Ops(ctx, dev, o, func(r measure.OpResult) error {
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
		_, err := fmt.Fprintf(b.env.Out, "%-10s %-46s %-5s %10s %6.1f %% %12s %5.0f %% %8s %10s\n", r.Op, r.Shape,
			r.Type,
			bench.Figure(r.Microseconds.Median), 100*r.Microseconds.Spread(), humanize.CommafWithDigits(r.GBs, 1),
			100*r.OfCopy,
			alike, bench.Figure(r.GFLOPs))
		return err
	})
	if err != nil || !b.json {
		return err
	}
	return b.env.PrintJSON(map[string]any{
		"device": dev.Info().Name, "info": dev.Info(), "copy_gigabytes_per_second": o.Copy.Median / 1e9,
		"repeats": b.repeats, "ops": results,
	})
}

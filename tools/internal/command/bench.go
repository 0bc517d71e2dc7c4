package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/tools/internal/bench"
	"github.com/gemwire/gemwire/tools/internal/terminal"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// benchCommand measures a model.
type benchCommand struct {
	env     *environment
	model   modelFlags
	lora    loraFlags
	options bench.ModelOptions
	json    bool
}

func newBench(env *environment) *cobra.Command {
	b := &benchCommand{env: env}
	cmd := &cobra.Command{
		Use:   "bench [MODEL]",
		Short: "Measure prefill, decode and kernels",
		Long: `Measure how fast a model is: loading it, computing a prompt (prefill) and the
tokens that follow (decode). One run warms up, and then come those that count;
medians are shown, with the least and the most.

Decoding reads every active weight once a token: its GB/s are shown beside the
bandwidth at which the device copies memory.`,
		Example: examples(
			`gemwire bench gemma4:e2b`,
			`gemwire bench gemma4:e2b --prompt-tokens 2048 --decode-tokens 256 --json`,
			`gemwire bench gemma4:e2b --context-depth 16384`,
			`gemwire bench --device cpu`,
			`gemwire bench gemma4:e2b --profile`,
			`gemwire bench gemma4:e2b --lora my-adapter --lora another=0.5`,
			`gemwire bench media gemma4:e2b`,
			`gemwire bench train gemma4:e2b`,
			`gemwire bench ops --only matvec`,
			`gemwire bench memory`,
			`gemwire bench compare gemma4:e2b`,
		),
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error { return b.run(cmd.Context(), list) },
	}
	flags := cmd.Flags()
	flags.IntVar(&b.options.PromptTokens, "prompt-tokens", 512, "compute a prompt of `N` tokens")
	flags.IntVar(&b.options.DecodeTokens, "decode-tokens", 128, "decode `N` tokens after it")
	flags.IntVar(&b.options.Depth, "context-depth", 0, "put `N` tokens before the prompt, which are not measured")
	flags.IntVar(&b.options.Repeats, "repeats", 5, "measure `N` runs")
	flags.BoolVar(&b.options.Profile, "profile", false, "show what each kernel of a decoding step takes on the GPU")
	flags.BoolVar(&b.json, "json", false, "print the figures as JSON")
	b.model.register(flags)
	b.lora.register(flags)
	cmd.AddCommand(newBenchOps(env), newBenchMedia(env), newBenchTrain(env), newBenchSmoke(env), newBenchDrafts(env), newBenchGrowth(env), newBenchMemory(env), newBenchCompare(env))
	return cmd
}

func (b *benchCommand) run(ctx context.Context, list []string) error {
	name, err := b.model.oneModel(list)
	if err := errors.Join(err, b.lora.check()); err != nil {
		return err
	}
	model, loading, err := b.open(ctx, name)
	if err != nil {
		return err
	}
	defer model.Close()
	if err := b.lora.use(ctx, model); err != nil {
		return err
	}
	if b.options.Copy, err = b.model.copyBandwidth(model); err != nil {
		return fmt.Errorf("%w%s", err, adviceFor(err, noReference))
	}
	report, err := measuring(b.env, func(progress func(done, total int)) (bench.ModelReport, error) {
		b.options.Progress = progress
		return bench.Model(ctx, model, loading, b.options)
	})
	if err != nil {
		return err
	}
	if b.json {
		return b.env.printJSON(report)
	}
	printModelReport(b.env.out, report)
	return nil
}

// measuring runs a measurement with its progress on the terminal.
func measuring[R any](env *environment, measure func(progress func(done, total int)) (R, error)) (R, error) {
	progress := terminal.NewProgress(env.err, false)
	defer progress.Clear()
	report, err := measure(func(done, total int) { progress.Set("measuring", int64(done), int64(total)) })
	switch {
	case errors.Is(err, bench.ErrOptions):
		return report, usageError{err}
	case err != nil:
		return report, fmt.Errorf("%w%s", err, adviceFor(err, noReference))
	}
	return report, nil
}

// open opens the model, with no more context than is measured, and tells the
// time that it took.
func (b *benchCommand) open(ctx context.Context, name string) (*gemma4.Model, time.Duration, error) {
	begun := time.Now()
	model, err := b.model.open(ctx, b.env, name)
	return model, time.Since(begun), err
}

// copyBandwidth is that of the device that the model is on.
func (f *modelFlags) copyBandwidth(model *gemma4.Model) (bench.Series, error) {
	if model.Info().Device == gemma4.DeviceCPU {
		return bench.CopyCPU(), nil
	}
	return f.onDevice(bench.CopyGPU)
}

// arithmetic is how many operations a second the model's device does. It is none for the
// CPU, and where products come to more, on matrices.
func (f *modelFlags) arithmetic(model *gemma4.Model) (bench.Series, error) {
	if model.Info().Device == gemma4.DeviceCPU {
		return bench.Series{}, nil
	}
	return f.onDevice(func(dev *wgslkit.Device) (bench.Series, error) {
		if ops.TuningOf(dev, dev.Info().Kind).Matrices.Size > 0 {
			return bench.Series{}, nil
		}
		return bench.MultiplyAdds(dev)
	})
}

// onDevice measures the model's device without the model.
func (f *modelFlags) onDevice(measure func(*wgslkit.Device) (bench.Series, error)) (bench.Series, error) {
	options := f.gpu()
	options.MemoryBudget = 0 // it is the model's
	dev, err := wgslkit.Open(options)
	if err != nil {
		return bench.Series{}, err
	}
	series, err := measure(dev)
	return series, errors.Join(err, dev.Close())
}

func gigabytes(n float64) string { return humanize.CommafWithDigits(n, 1) + " GB/s" }

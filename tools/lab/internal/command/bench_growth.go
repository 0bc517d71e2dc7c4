package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/tools/internal/bench"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/terminal"
	"github.com/gemwire/gemwire/tools/lab/internal/measure"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// benchGrowthCommand measures how costs grow, and draws them.
type benchGrowthCommand struct {
	env     *cli.Environment
	model   cli.ModelFlags
	options measure.GrowthOptions
	load    []string
	curves  []string
	out     string
}

func newBenchGrowth(env *cli.Environment) *cobra.Command {
	b := &benchGrowthCommand{env: env}
	cmd := &cobra.Command{
		Use:   "growth [MODEL]",
		Short: "Measure how costs grow with sizes, and draw them",
		Long: `Measure how decoding grows with the context, prompts with their length, training steps
with tokens and rank, and loading with the file size; plot each with its lower
cannot be below.`,
		Example: cli.Examples(
			`lab bench growth gemma4:e2b --context 40000 --out figures`,
			`lab bench growth --out figures --curves decode,prefill --depths 16,64,128 --prompts 16,64,128`,
			`lab bench growth gemma4:e2b --load small.gguf --load large.gguf --out figures`,
		),
		Args: cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error { return b.run(cmd.Context(), list) },
	}
	flags := cmd.Flags()
	o := &b.options
	flags.IntSliceVar(&o.Depths, "depths", []int{512, 2000, 4000, 8000, 16000, 30000},
		"decode after so many `TOKENS`, each")
	flags.IntSliceVar(&o.Prompts, "prompts", []int{128, 512, 2048, 8192, 16384, 30000},
		"compute prompts of so many `TOKENS`, each")
	flags.IntSliceVar(&o.TrainTokens, "train-tokens", []int{128, 256, 512, 1024},
		"take training steps of so many `TOKENS`, each")
	flags.IntSliceVar(&o.TrainRanks, "train-ranks", []int{4, 16, 64, 128}, "take training steps of these `RANKS`, each")
	flags.StringArrayVar(&b.load, "load", nil, "load this `FILE` too, for the curve of loading (repeatable)")
	flags.StringSliceVar(&b.curves, "curves", []string{"decode", "prefill", "train-tokens", "train-rank"},
		"measure these `CURVES` alone")
	flags.IntVar(&o.Repeats, "repeats", 3, "measure `N` runs of each")
	flags.StringVar(&b.out, "out", "", "write growth.json and a drawing of each curve into this `FOLDER` (required)")
	b.model.Register(flags)
	return cmd
}

func (b *benchGrowthCommand) run(ctx context.Context, list []string) error {
	if b.out == "" {
		return cli.Usage(errors.New("say where the drawings go: --out FOLDER"))
	}
	if err := b.chooseCurves(); err != nil {
		return err
	}
	name, err := b.model.OneModel(list)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(b.out, 0o755); err != nil {
		return err
	}
	progress := terminal.NewProgress(b.env.Err, false)
	defer progress.Clear()
	b.options.Progress = func(what string) { progress.Set("measuring "+what, 0, 0) }
	device, curves, err := b.measure(ctx, name)
	if err != nil {
		return cli.Advised(err)
	}
	progress.Clear()
	return b.write(device, curves)
}

// chooseCurves drops the sizes of curves that nobody asked for.
func (b *benchGrowthCommand) chooseCurves() error {
	o := &b.options
	sizes := map[string]*[]int{
		"decode":       &o.Depths,
		"prefill":      &o.Prompts,
		"train-tokens": &o.TrainTokens,
		"train-rank":   &o.TrainRanks,
	}
	for _, curve := range b.curves {
		if _, ok := sizes[curve]; !ok {
			return cli.Usagef("--curves %q: there are decode, prefill, train-tokens and train-rank", curve)
		}
	}
	for curve, list := range sizes {
		if !slices.Contains(b.curves, curve) {
			*list = nil
		}
	}
	return nil
}

func (b *benchGrowthCommand) measure(ctx context.Context,
	name string) (device string, curves []measure.Curve, err error) {
	model, err := b.model.Open(ctx, b.env, name)
	if err != nil {
		return "", nil, err
	}
	defer model.Close()
	if b.options.Copy, err = b.model.CopyBandwidth(model); err != nil {
		return "", nil, err
	}
	if b.options.Arithmetic, err = arithmetic(&b.model, model); err != nil {
		return "", nil, err
	}
	if curves, err = measure.Growth(ctx, model, b.options); err != nil || len(b.load) == 0 {
		return model.Info().DeviceName, curves, err
	}
	load, err := measure.LoadGrowth(b.load, b.options.Repeats, func(file string) error {
		b.options.Progress("loading " + file)
		m, err := b.model.Open(ctx, b.env, file)
		if err != nil {
			return err
		}
		return m.Close()
	})
	return model.Info().DeviceName, append(curves, load), err
}

func (b *benchGrowthCommand) write(device string, curves []measure.Curve) error {
	for _, c := range curves {
		if err := drawCurve(b.env, filepath.Join(b.out, c.Name+".svg"), device, c); err != nil {
			return err
		}
		for _, p := range c.Measured {
			fmt.Fprintf(b.env.Out, "%-13s %10s %s: %s %s\n", c.Name, sizeLabel(p.X), c.X, bench.Figure(p.Median), c.Y)
		}
	}
	return b.env.WriteFile(filepath.Join(b.out, "growth.json"), func(w io.Writer) error {
		out := json.NewEncoder(w)
		out.SetIndent("", "  ")
		return out.Encode(map[string]any{"device": device, "curves": curves})
	})
}

// sizeLabel is a count as it is, and gigabytes as a figure.
func sizeLabel(x float64) string {
	if x == math.Trunc(x) {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return bench.Figure(x)
}

// spans draws a point's least and most.
type spans []measure.Point

func (s spans) Len() int                    { return len(s) }
func (s spans) XY(i int) (x, y float64)     { return s[i].X, s[i].Median }
func (s spans) YError(i int) (_, _ float64) { return s[i].Median - s[i].Min, s[i].Max - s[i].Median }

func drawCurve(env *cli.Environment, file, device string, c measure.Curve) error {
	p := plot.New()
	p.Title.Text = c.Title + ", " + device
	p.X.Label.Text, p.Y.Label.Text = c.X, c.Y
	p.Legend.Top, p.Legend.Left = true, true
	p.Legend.TextStyle.Font.Size = vg.Points(9)
	p.Add(plotter.NewGrid())
	if len(c.Measured) > 0 {
		measured, bound := spans(c.Measured), spans(c.Bound)
		if err := plotutil.AddLinePoints(p, "measured", measured); err != nil {
			return err
		}
		errors, err := plotter.NewYErrorBars(measured)
		if err != nil {
			return err
		}
		p.Add(errors)
		if len(bound) > 0 {
			line, err := plotter.NewLine(bound)
			if err != nil {
				return err
			}
			line.Dashes = []vg.Length{vg.Points(4), vg.Points(3)}
			p.Add(line)
			p.Legend.Add(c.Because, line)
		}
	}
	p.X.Min, p.Y.Min = 0, 0
	// Room for the last label, and for the legend.
	p.X.Max *= 1.05
	p.Y.Max *= 1.2
	return writePlot(env, p, file)
}

// arithmetic is how many operations a second the model's device does. It is none for the
// CPU, and where products come to more, on matrices.
func arithmetic(f *cli.ModelFlags, model *gemma4.Model) (bench.Series, error) {
	if model.Info().Device == gemma4.DeviceCPU {
		return bench.Series{}, nil
	}
	return f.OnDevice(func(dev *wgslkit.Device) (bench.Series, error) {
		if ops.TuningOf(dev, dev.Info().Kind).Matrices.Size > 0 {
			return bench.Series{}, nil
		}
		return measure.MultiplyAdds(dev)
	})
}

package command

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/finetune"
	"github.com/gemwire/gemwire/finetune/dataset"
	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/lab/internal/measure"
)

// benchCurveCommand writes down a training run, for another program to repeat.
type benchCurveCommand struct {
	env     *cli.Environment
	model   cli.ModelFlags
	options measure.LossCurveOptions
	held    string
	output  string
}

func newBenchCurve(env *cli.Environment) *cobra.Command {
	b := &benchCurveCommand{env: env}
	cmd := &cobra.Command{
		Use:   "curve DATA",
		Short: "Write down a training run for others to repeat",
		Long: `Train an adapter, and write down all that another program needs to make the same
steps: the first adapter, the tokens of each step, its rate, its loss. tools/lab/bench-peers/peft
repeats it with PEFT. Examples lose no words, and the model is held to nothing.`,
		Example: cli.Examples(
			`lab bench curve train.jsonl --held-out held.jsonl --model gemma3-270m.gguf --steps 300 -o curve`,
		),
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error { return b.run(cmd.Context(), list[0]) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&b.output, "output", "o", "curve", "write run.json and adapters to this `FOLDER`")
	flags.StringVar(&b.held, "held-out", "", "look at the examples in this `FILE` meanwhile")
	flags.IntVar(&b.options.Every, "evaluate-every", 50, "look at what is held out every `N` steps")
	flags.IntVar(&b.options.Steps, "steps", 300, "make `N` steps")
	flags.IntVar(&b.options.Rank, "rank", 16, "train pairs of rank `R`")
	flags.Float64Var(&b.options.Rate, "rate", 0, "the maximum learning `RATE` (default: the model's)")
	flags.Uint64Var(&b.options.Seed, "seed", 0, "the `SEED` of the first adapter and the order")
	b.model.Register(flags)
	return cmd
}

func (b *benchCurveCommand) run(ctx context.Context, path string) error {
	b.model.TablesInFile = true // as gemwire train opens it
	model, err := b.model.Open(ctx, b.env, b.model.Model)
	if err != nil {
		return err
	}
	defer model.Close()
	var data finetune.Data
	if data.Train, err = loadExamples(ctx, model, path); err != nil {
		return err
	}
	if b.held != "" {
		if data.HeldOut, err = loadExamples(ctx, model, b.held); err != nil {
			return err
		}
	}
	b.options.Adapter = b.output
	curve, err := cli.Measuring(b.env, func(progress func(done, total int)) (measure.LossCurve, error) {
		b.options.Progress = progress
		return measure.TrainCurve(ctx, model, data, b.options)
	})
	if err != nil {
		return err
	}
	raw, err := json.Marshal(curve)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(b.output, "run.json"), raw, 0o644); err != nil {
		return err
	}
	last := curve.Steps[len(curve.Steps)-1]
	fmt.Fprintf(b.env.Out, "%s: %d steps in %.1f s, loss %.4f", curve.Device, len(curve.Steps), curve.Seconds, last.Loss)
	if last.HeldOut != nil {
		fmt.Fprintf(b.env.Out, ", of what was held out %.4f", *last.HeldOut)
	}
	fmt.Fprintln(b.env.Out)
	return nil
}

func loadExamples(ctx context.Context, model *gemma4.Model, path string) ([]dataset.Example, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	set, err := dataset.Load(ctx, model, f, dataset.LoadOptions{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return set.Whole(), nil
}

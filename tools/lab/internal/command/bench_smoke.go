package command

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/lab/internal/measure"
)

// benchSmokeCommand counts a model's work and compares it with what it was.
type benchSmokeCommand struct {
	env     *cli.Environment
	model   cli.ModelFlags
	against string
	write   bool
	json    bool
}

func newBenchSmoke(env *cli.Environment) *cobra.Command {
	b := &benchSmokeCommand{env: env}
	cmd := &cobra.Command{
		Use:   "smoke [MODEL]",
		Short: "Count the work of each phase, and fail where it grew",
		Long: `Count what each phase of using a model asks of the GPU and of Go's heap: kernels,
bytes bound to be read, uploads, readbacks, things made, allocations. Unlike times,
these are the same on a busy machine. With --against they are held to an earlier
run's on the same kind of device, and a figure that grew is an error.`,
		Example: cli.Examples(
			`lab bench smoke`,
			`lab bench smoke --against testdata/bench-smoke.json`,
			`lab bench smoke --against testdata/bench-smoke.json --write`,
		),
		Args: cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error { return b.run(cmd.Context(), list) },
	}
	flags := cmd.Flags()
	flags.StringVar(&b.against, "against", "", "compare with the figures in `FILE`")
	flags.BoolVar(&b.write, "write", false, "write the figures to that file instead of comparing")
	flags.BoolVar(&b.json, "json", false, "print the figures as JSON")
	b.model.RegisterReference(flags)
	b.model.DeviceFlags.Register(flags)
	return cmd
}

func (b *benchSmokeCommand) run(ctx context.Context, list []string) error {
	if b.write && b.against == "" {
		return cli.Usage(errors.New("--write needs --against FILE"))
	}
	name, err := b.model.OneModel(list)
	if err != nil {
		return err
	}
	if err := b.model.Check(); err != nil {
		return err
	}
	want, err := b.earlier()
	if err != nil {
		return err
	}
	open := func() (*gguf.File, error) { return b.model.OpenFile(ctx, b.env, name) }
	got, err := measure.Smoke(ctx, open, b.model.GPU())
	if err != nil {
		return cli.Advised(err)
	}
	if b.json {
		if err := b.env.PrintJSON(got); err != nil {
			return err
		}
	} else {
		printSmoke(b.env.Out, got.Phases)
	}
	switch {
	case b.write:
		return b.writeFigures(got)
	case b.against != "":
		return b.compare(want, got)
	}
	return nil
}

// earlier is the figures to compare with, before anything is measured: none where they
// are written.
func (b *benchSmokeCommand) earlier() (want measure.Workload, err error) {
	if b.against == "" || b.write {
		return want, nil
	}
	raw, err := os.ReadFile(b.against)
	if err != nil {
		return want, fmt.Errorf("%w; --write writes it", err)
	}
	if err := json.Unmarshal(raw, &want); err != nil {
		return want, fmt.Errorf("%s: %w", b.against, err)
	}
	return want, nil
}

func (b *benchSmokeCommand) writeFigures(got measure.Workload) error {
	raw, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(b.against, append(raw, '\n'), 0o644)
}

// compare fails where a figure grew, and says where one fell.
func (b *benchSmokeCommand) compare(want, got measure.Workload) error {
	grew, fell, err := measure.CompareWork(want, got)
	if err != nil {
		return fmt.Errorf("%s: %w; GEMWIRE_ADAPTER picks another", b.against, err)
	}
	for _, line := range fell {
		fmt.Fprintf(b.env.Err, "less than before: %s\n", line)
	}
	if len(fell) > 0 {
		fmt.Fprintf(b.env.Err, "`lab bench smoke --against %s --write` holds it there\n", b.against)
	}
	if len(grew) == 0 {
		return nil
	}
	for _, line := range grew {
		fmt.Fprintf(b.env.Err, "more than before: %s\n", line)
	}
	return fmt.Errorf(
		"%w: %d figures grew beyond %s; if that is right, write it again with --write, and say why in the commit",
		measure.ErrGrew, len(grew), b.against)
}

// printSmoke shows what people compare by eye.
func printSmoke(w io.Writer, phases []measure.PhaseWork) {
	fmt.Fprintf(w, "%-10s %10s %12s %8s %12s %8s %12s %8s %12s %12s  %s\n",
		"phase", "kernels", "bound", "uploads", "", "reads", "made", "GPU", "allocations", "heap", "for one")
	bytes := func(n int64) string { return humanize.Bytes(uint64(n)) }
	for _, p := range phases {
		fmt.Fprintf(w, "%-10s %10d %12s %8d %12s %8d %12d %8s %12d %12s  %s\n", p.Phase, p.Dispatches,
			bytes(p.BoundBytes),
			p.Writes, bytes(p.WrittenBytes), p.Reads, p.Buffers+p.Pipelines+p.BindGroups, bytes(p.GPUBytes),
			p.Allocations,
			bytes(p.HeapBytes), p.Unit)
	}
}

package numbers

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/multimodal/gpu"
	"github.com/gemwire/gemwire/tools/internal/bench"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/terminal"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
	"github.com/gemwire/gemwire/wgslkit/ops/checkup"
)

// benchMediaCommand measures a model's image and audio towers.
type benchMediaCommand struct {
	env     *cli.Environment
	model   cli.ModelFlags
	options bench.MediaOptions
	json    bool

	kernels *checkup.Findings // nil on the CPU
}

func newBenchMedia(env *cli.Environment) *cobra.Command {
	b := &benchMediaCommand{env: env}
	cmd := &cobra.Command{
		Use:   "media [MODEL]",
		Short: "Measure how long images and audio clips take to encode",
		Long: `Measure how long a model's towers take for an image and an audio clip, from pixels
or mel frames in memory to soft tokens in memory. Only the towers are loaded.`,
		Example: cli.Examples(
			`gemwire bench media gemma4:e2b`,
			`gemwire bench media gemma4:e2b --image-budget 1120 --seconds 0`,
			`gemwire bench media --device cpu`,
			`gemwire bench media gemma4:e2b --profile --json`,
		),
		Args: cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error { return b.run(cmd.Context(), list) },
	}
	flags := cmd.Flags()
	flags.IntVar(&b.options.ImageBudget, "image-budget", 280, "encode an image of `N` soft tokens; 0 leaves images out")
	flags.Float64Var(&b.options.Seconds, "seconds", 30, "encode a clip of this many `SECONDS`; 0 leaves clips out")
	flags.IntVar(&b.options.Repeats, "repeats", 5, "measure `N` runs")
	flags.BoolVar(&b.options.Profile, "profile", false, "show the GPU time of each kernel")
	flags.BoolVar(&b.json, "json", false, "print the figures as JSON")
	b.model.RegisterReference(flags)
	b.model.DeviceFlags.Register(flags)
	return cmd
}

func (b *benchMediaCommand) run(ctx context.Context, list []string) error {
	name, err := b.model.OneModel(list)
	if err != nil {
		return err
	}
	if err := b.model.Check(); err != nil {
		return err
	}
	if b.model.Unchecked {
		return cli.Usagef("--unchecked-kernels: bench measures only kernels that it has checked")
	}
	file, err := b.model.OpenFile(ctx, b.env, name)
	if err != nil {
		return err
	}
	defer file.Close()
	towers, err := arch.Open(file, 0)
	if err != nil {
		return err
	}
	if towers.Vision == nil {
		if _, err := towers.NeedAudio(); err != nil {
			return err
		}
	}
	if gemma4.Device(b.model.Device) == gemma4.DeviceCPU {
		return b.measure(ctx, towers, "CPU")
	}
	device, err := wgslkit.Open(b.model.GPU())
	if err != nil {
		return cli.Advised(err)
	}
	if gemma4.SlowerThanCPU(device, gemma4.OpenOptions{Device: gemma4.Device(b.model.Device), GPU: b.model.GPU()}) {
		b.env.Say("%s: measuring the CPU, which outruns the software rasterizer %s; --device gpu measures that",
			b.env.Program, device.Info().Name)
		return errors.Join(device.Close(), b.measure(ctx, towers, "CPU"))
	}
	if err := b.check(ctx, towers, device); err != nil {
		return errors.Join(err, device.Close())
	}
	return errors.Join(b.measure(ctx, towers, device.Info().Name), device.Close())
}

// check examines the kernels that are measured, and chooses the kit to measure with.
func (b *benchMediaCommand) check(ctx context.Context, towers *arch.Towers, device *wgslkit.Device) error {
	progress := terminal.NewProgress(b.env.Err, false)
	defer progress.Clear()
	e := b.model.Examiner()
	e.Keeper = checkup.Anew{Keeper: e.Keeper}
	e.Progress = func(done, total int) { progress.Set(string(gemma4.PhaseCheck), int64(done), int64(total)) }
	var err error
	b.options.Kit, b.kernels, err = e.Examine(ctx, ops.New(device), func(kit *ops.Kit) error {
		return rehearseTowers(ctx, kit, towers)
	})
	if err != nil {
		return cli.Advised(err)
	}
	return nil
}

func rehearseTowers(ctx context.Context, kit *ops.Kit, towers *arch.Towers) error {
	if v := towers.Vision; v != nil {
		if err := gpu.RehearseVision(ctx, kit, v); err != nil {
			return err
		}
	}
	if a := towers.Audio; a != nil {
		return gpu.RehearseAudio(ctx, kit, a)
	}
	return nil
}

func (b *benchMediaCommand) measure(ctx context.Context, towers *arch.Towers, device string) error {
	report, err := cli.Measuring(b.env, func(progress func(done, total int)) (bench.MediaReport, error) {
		b.options.Progress = progress
		return bench.Media(ctx, towers, b.options)
	})
	if err != nil {
		return err
	}
	if b.json {
		return b.env.PrintJSON(map[string]any{"device": device, "repeats": b.options.Repeats, "image": report.Image,
			"audio": report.Audio, "kernels_checked": b.kernels})
	}
	fmt.Fprintf(b.env.Out, "%-7s %s\n", "device", device)
	if b.kernels != nil {
		fmt.Fprintf(b.env.Out, "%-7s %s\n", "checked", kernelsLine(b.kernels))
	}
	printMedium(b.env.Out, "image", report.Image)
	printMedium(b.env.Out, "audio", report.Audio)
	return nil
}

func printMedium(w io.Writer, name string, r *bench.MediumReport) {
	if r == nil {
		return
	}
	fmt.Fprintf(w, "%-7s %s ms  (%s, %d soft tokens; %s; loading %.2f s)\n",
		name, bench.Figure(r.Milliseconds.Median), r.Input, r.SoftTokens, bench.Span(r.Milliseconds), r.LoadSeconds)
	if r.GPUBytes > 0 {
		fmt.Fprintf(w, "%-7s %s on the GPU\n", "", humanize.Bytes(uint64(r.GPUBytes)))
	}
	if len(r.Profile) > 0 {
		bench.PrintProfile(w, r.Profile)
		fmt.Fprintln(w)
	}
}

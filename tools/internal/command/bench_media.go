package command

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/tools/internal/bench"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// benchMediaCommand measures a model's image and audio towers.
type benchMediaCommand struct {
	env     *environment
	model   modelFlags
	options bench.MediaOptions
	json    bool
}

func newBenchMedia(env *environment) *cobra.Command {
	b := &benchMediaCommand{env: env}
	cmd := &cobra.Command{
		Use:   "media [MODEL]",
		Short: "Measure how long images and clips take to encode",
		Long: `Measure how long a model's towers take for an image and for a clip: from pixels
or mel frames in memory to soft tokens in memory. Only the towers are loaded.`,
		Example: examples(
			`gemwire bench media gemma4:e2b`,
			`gemwire bench media gemma4:e2b --image-budget 1120 --seconds 0`,
			`gemwire bench media --device cpu`,
			`gemwire bench media gemma4:e2b --profile --json`,
		),
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error { return b.run(cmd.Context(), list) },
	}
	flags := cmd.Flags()
	flags.IntVar(&b.options.ImageBudget, "image-budget", 280, "encode an image of `N` soft tokens; 0 leaves images out")
	flags.Float64Var(&b.options.Seconds, "seconds", 30, "encode a clip of so many `SECONDS`; 0 leaves clips out")
	flags.IntVar(&b.options.Repeats, "repeats", 5, "measure `N` runs")
	flags.BoolVar(&b.options.Profile, "profile", false, "show what each kernel takes on the GPU")
	flags.BoolVar(&b.json, "json", false, "print the figures as JSON")
	b.model.registerReference(flags)
	b.model.deviceFlags.register(flags)
	return cmd
}

func (b *benchMediaCommand) run(ctx context.Context, list []string) error {
	name, err := b.model.oneModel(list)
	if err != nil {
		return err
	}
	if err := b.model.check(); err != nil {
		return err
	}
	file, err := b.model.openFile(ctx, b.env, name)
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
	if gemma4.Device(b.model.device) == gemma4.DeviceCPU {
		return b.measure(ctx, towers, "CPU")
	}
	device, err := wgslkit.Open(b.model.gpu())
	if err != nil {
		return fmt.Errorf("%w%s", err, adviceFor(err, noReference))
	}
	b.options.Kit = ops.New(device)
	return errors.Join(b.measure(ctx, towers, device.Info().Name), device.Close())
}

func (b *benchMediaCommand) measure(ctx context.Context, towers *arch.Towers, device string) error {
	report, err := measuring(b.env, func(progress func(done, total int)) (bench.MediaReport, error) {
		b.options.Progress = progress
		return bench.Media(ctx, towers, b.options)
	})
	if err != nil {
		return err
	}
	if b.json {
		return b.env.printJSON(map[string]any{"device": device, "repeats": b.options.Repeats, "image": report.Image, "audio": report.Audio})
	}
	fmt.Fprintf(b.env.out, "%-7s %s\n", "device", device)
	printMedium(b.env.out, "image", report.Image)
	printMedium(b.env.out, "audio", report.Audio)
	return nil
}

func printMedium(w io.Writer, name string, r *bench.MediumReport) {
	if r == nil {
		return
	}
	fmt.Fprintf(w, "%-7s %s ms  (%s, %d soft tokens; %s; loading %.2f s)\n",
		name, figure(r.Milliseconds.Median), r.Input, r.SoftTokens, span(r.Milliseconds), r.LoadSeconds)
	if r.GPUBytes > 0 {
		fmt.Fprintf(w, "%-7s %s on the GPU\n", "", humanize.Bytes(uint64(r.GPUBytes)))
	}
	if len(r.Profile) > 0 {
		printProfile(w, r.Profile)
		fmt.Fprintln(w)
	}
}

package numbers

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/doctor"
	"github.com/gemwire/gemwire/tools/internal/terminal"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
	"github.com/gemwire/gemwire/wgslkit/ops/checkup"
	"github.com/gemwire/gemwire/wgslkit/ops/opstest"
)

// tellEach is how often progress is told where there is no terminal.
const tellEach = 10 * time.Second

// doctorCommand examines the GPU.
type doctorCommand struct {
	env    *cli.Environment
	device cli.DeviceFlags
	json   bool
	cases  func(*ops.Kit) []opstest.Case // nil is all
}

func NewDoctor(env *cli.Environment) *cobra.Command {
	d := &doctorCommand{env: env}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check this machine's GPU",
		Long: `Check this machine's GPU: its features, and whether every kernel gives the same result as on
the CPU. Kernels that the driver gets wrong are listed, and not used from
then on, until the driver or gemwire changes.

You can paste the report into a bug report. The exit status is 1 if anything is wrong.`,
		Example: cli.Examples(
			`gemwire doctor`,
			`gemwire doctor --gpu nvidia`,
			`gemwire doctor --json > doctor.json`,
		),
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return d.run(cmd.Context()) },
	}
	cmd.Flags().BoolVar(&d.json, "json", false, "print the result as JSON")
	d.device.RegisterGPU(cmd.Flags(), "check the GPU with this in its `NAME`")
	d.device.RegisterWGPU(cmd.Flags())
	return cmd
}

func (d *doctorCommand) run(ctx context.Context) error {
	if err := d.device.Check(); err != nil {
		return err
	}
	progress := terminal.NewProgress(d.env.Err, false)
	defer progress.Clear()
	examined, of, told := 0, 0, time.Now()
	verdict, err := checkup.Examine(ctx, checkup.Options{
		Version: cli.Version(), GPU: wgslkit.Options{Adapter: d.device.GPUName, Library: d.device.WGPU}, Cases: d.cases,
		Progress: func(done, total int, next string) {
			progress.Set("examining "+next, int64(done), int64(total))
			switch examined, of = done, total; {
			case terminal.IsTerminal(d.env.Err):
			case done == 0:
				d.env.Say("gemwire: examining the GPU with %d cases: seconds on a GPU, minutes on a software rasterizer", total)
			case time.Since(told) >= tellEach:
				told = time.Now()
				d.env.Say("gemwire: %d of %d cases examined", done, total)
			}
		},
	})
	progress.Clear()
	switch {
	case errors.Is(err, wgslkit.ErrNoDevice):
		return d.withoutGPU(err)
	case ctx.Err() != nil:
		d.env.Say("gemwire: stopped after %d of %d cases; nothing is kept of them", examined, of)
		return err
	case err != nil:
		return cli.Advised(err)
	}
	if _, err := checkup.NewStore(cli.Version()).Save(verdict); err != nil {
		d.env.Say("gemwire: the result is not saved: %s", cli.Sentence(err))
	}
	if err := d.print(verdict); err != nil {
		return err
	}
	if !verdict.Healthy() {
		return cli.ErrReported
	}
	return nil
}

// withoutGPU reports what there is to say of a machine without a usable GPU.
func (d *doctorCommand) withoutGPU(err error) error {
	system := doctor.ThisSystem(cli.Version())
	system.Problem = cli.Sentence(err)
	print := func() error { return system.WriteReport(d.env.Out) }
	if d.json {
		print = func() error { return d.env.PrintJSON(system) }
	}
	if printErr := print(); printErr != nil {
		return printErr
	}
	d.env.Say("gemwire: models run on the CPU here; with a GPU, install its driver")
	return cli.ErrReported
}

func (d *doctorCommand) print(v *checkup.Verdict) error {
	if d.json {
		return d.env.PrintJSON(v)
	}
	return v.WriteReport(d.env.Out)
}

package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/tools/internal/doctor"
	"github.com/gemwire/gemwire/tools/internal/terminal"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
	"github.com/gemwire/gemwire/wgslkit/ops/opstest"
)

// doctorCommand examines the GPU.
type doctorCommand struct {
	env    *environment
	device deviceFlags
	json   bool
	cases  func(*ops.Kit) []opstest.Case // nil is all
}

func newDoctor(env *environment) *cobra.Command {
	d := &doctorCommand{env: env}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check this machine's GPU",
		Long: `Check this machine's GPU: what it has, and whether it computes every kernel as
the CPU does. A kernel that its driver gets wrong is named, and not used from
then on, until another driver or version of gemwire is examined.

The report fits in a bug report. The exit status is 1 where something is wrong.`,
		Example: examples(
			`gemwire doctor`,
			`gemwire doctor --adapter nvidia`,
			`gemwire doctor --json > doctor.json`,
		),
		Args: args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return d.run(cmd.Context()) },
	}
	cmd.Flags().BoolVar(&d.json, "json", false, "print the verdict as JSON")
	cmd.Flags().StringVar(&d.device.adapter, "adapter", "", "examine the GPU with this in its `NAME`")
	d.device.registerWGPU(cmd.Flags())
	return cmd
}

func (d *doctorCommand) run(ctx context.Context) error {
	progress := terminal.NewProgress(d.env.err, false)
	defer progress.Clear()
	verdict, err := doctor.Examine(ctx, doctor.Options{
		Version: version(), GPU: wgslkit.Options{Adapter: d.device.adapter, Library: d.device.wgpu}, Cases: d.cases,
		Progress: func(done, total int, next string) { progress.Set("examining "+next, int64(done), int64(total)) },
	})
	progress.Clear()
	if errors.Is(err, wgslkit.ErrNoDevice) {
		return fmt.Errorf("%w; models run on the CPU here", err)
	}
	if err != nil {
		return fmt.Errorf("%w%s", err, adviceFor(err, noReference))
	}
	if _, err := doctor.NewStore(version()).Save(verdict); err != nil {
		d.env.say("gemwire: the verdict is not remembered, because %s", sentence(err))
	}
	if err := d.print(verdict); err != nil {
		return err
	}
	if !verdict.Healthy() {
		return errReported
	}
	return nil
}

func (d *doctorCommand) print(v *doctor.Verdict) error {
	if d.json {
		return d.env.printJSON(v)
	}
	return v.WriteReport(d.env.out)
}

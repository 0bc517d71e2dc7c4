package training

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gemwire/gemwire/finetune"
	"github.com/gemwire/gemwire/finetune/dataset"
	"github.com/gemwire/gemwire/finetune/schedule"
	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/command/flagset"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

// trainCommand trains an adapter.
type trainCommand struct {
	env      *cli.Environment
	model    cli.ModelFlags
	media    flagset.Media
	examples flagset.Examples
	training trainFlags
	force    flagset.Force

	data            string // the file
	held            string
	output          string
	checkpoint      string
	checkpointEvery int
	resume          bool
	preview         int
	dryRun          bool
	plot            string
	json            bool
	again           *pflag.FlagSet // the command line's, to say how to go on
}

func NewTrain(env *cli.Environment) *cobra.Command {
	t := &trainCommand{env: env}
	t.examples.Media = &t.media
	cmd := &cobra.Command{
		Use:   "train DATA",
		Short: "Train a LoRA adapter on examples",
		Long: `Train a LoRA adapter on a JSONL file, one example per line:

  {"prompt": "Who are you?", "completion": "I am Gem."}
  {"messages": [{"role": "user", "content": "…"}, {"role": "assistant", "content": "…"}]}
  {"conversations": [{"from": "human", "value": "…"}, {"from": "gpt", "value": "…"}]}
  {"text": "…"}

Messages can have pictures and recordings, as files next to the examples or as data URLs:

  {"role": "user", "content": [{"type": "image", "url": "cat.png"}, {"type": "text", "text": "What is it?"}]}

The model learns the last answer of a line, and every word of a text.
The model's own weights do not change. The adapter is written as a PEFT folder,
or as a llama.cpp file if its name ends in .gguf.

To keep what the model knows, it makes up conversations before the first step.
Each step includes some of them, so that its answers to them stay as likely
as they were (--keep).

Ctrl-C stops a run and writes a checkpoint; --resume continues from it.`,
		Example: cli.Examples(
			`gemwire train facts.jsonl -o facts`,
			`gemwire train facts.jsonl --preview 3 --dry-run`,
			`gemwire train chats.jsonl --model gemma4:e2b --rank 16 --epochs 2 --rate 1e-4 --all-turns -o my-adapter`,
			`gemwire train chats.jsonl --model gemma4:e2b --held-out held.jsonl --evaluate-every 20 --patience 3 `+
				`--plot loss.svg`,
			`gemwire train chats.jsonl --model gemma4:e2b --resume`,
			`gemwire chat gemma4:e2b --lora my-adapter`,
		),
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			t.data, t.again = list[0], cmd.Flags()
			return t.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringVarP(&t.output, "output", "o", "my-adapter", "write the adapter to this `FOLDER`, or file ending in .gguf")
	t.training.register(f)
	t.examples.Register(f)
	f.StringVar(&t.held, "held-out", "auto",
		"evaluate on this `PART` of the lines instead of learning them, such as 5%, or on another FILE; none turns "+
			"it off; auto is 5% of 500 lines and more")
	f.StringVar(&t.checkpoint, "checkpoint", "",
		"keep checkpoints in this `FILE` (default: next to the adapter, until that is written)")
	f.IntVar(&t.checkpointEvery, "checkpoint-every", 50, "write one every `N` steps; 0 means only at Ctrl-C")
	f.BoolVar(&t.resume, "resume", false, "continue from the checkpoint")
	f.IntVar(&t.preview, "preview", 0, "show `N` examples as the model reads them, with the part it learns marked")
	f.BoolVar(&t.dryRun, "dry-run", false, "show the plan and stop")
	f.StringVar(&t.plot, "plot", "", "plot the losses in this SVG `FILE`")
	f.BoolVar(&t.json, "json", false, "print plan, steps and result as lines of JSON")
	t.force.Register(f)
	t.model.Register(f)
	t.media.Register(f)
	return cmd
}

func (t *trainCommand) run(ctx context.Context) (err error) {
	config, err := t.settings()
	if err != nil {
		return err
	}
	output, err := t.claim()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, output.release()) }()
	if err := cmp.Or(t.checkCheckpoint(), t.checkResults()); err != nil {
		return err
	}
	t.model.TablesInFile = true
	model, err := t.model.Open(ctx, t.env, t.model.Model)
	if err != nil {
		return err
	}
	defer model.Close()
	if len(model.Adapters()) > 0 {
		return fmt.Errorf("%s has an adapter of its own, which a run cannot build on; merge it into a file first: "+
			"gemwire adapter merge %s -o merged.gguf", t.model.Model, t.model.Model)
	}
	if layers := model.Info().Layers; len(config.Layers) > 0 && slices.Max(config.Layers) >= layers {
		return cli.Usagef("--layers %s: the model has layers 0 to %d", t.training.layers, layers-1)
	}
	if _, err := t.media.Attach(t.env, model); err != nil {
		return err
	}
	set, data, err := t.split(ctx, model)
	if err != nil {
		return err
	}
	if err := t.show(model, set); err != nil {
		return err
	}
	trainer, err := t.trainer(ctx, model, data, config)
	if errors.Is(err, finetune.ErrConfig) || errors.Is(err, schedule.ErrSchedule) {
		return cli.Usage(err)
	}
	if err != nil {
		return cli.Advised(err)
	}
	defer trainer.Close()
	if t.resume {
		if err := t.training.checkResumed(trainer.Config(), trainer.Plan().Rehearsed); err != nil {
			return err
		}
	}
	progress := newTrainProgress(t, model, trainer)
	if err := progress.plan(set, data); err != nil || t.dryRun {
		return err
	}
	return t.train(ctx, trainer, progress)
}

// settings are what the flags say, checked before anything is opened.
func (t *trainCommand) settings() (finetune.Config, error) {
	config, err := t.training.settings()
	if err := errors.Join(err, t.examples.Check(), t.media.Check()); err != nil {
		return config, err
	}
	if t.preview < 0 || t.checkpointEvery < 0 {
		return config, cli.Usagef("--preview is %d and --checkpoint-every %d; neither may be negative", t.preview,
			t.checkpointEvery)
	}
	if t.plot != "" && !isSVG(t.plot) {
		return config, cli.Usagef("--plot %q: the plot is an SVG file; its name must end in .svg", t.plot)
	}
	if t.output == "" {
		return config, cli.Usagef("the name to write to is empty; give one with --output")
	}
	if t.data == cli.StandardOutput && t.held == cli.StandardOutput {
		return config, cli.Usagef("both files on standard input; name one")
	}
	_, _, err = heldOut(t.held)
	return config, err
}

// checkCheckpoint refuses to begin where a run was interrupted, and to go on where none was.
func (t *trainCommand) checkCheckpoint() error {
	_, err := os.Stat(t.checkpointPath())
	switch {
	case t.resume && errors.Is(err, fs.ErrNotExist):
		return cli.Usagef("there is no checkpoint %s to continue from", t.checkpointPath())
	case !t.resume && !t.dryRun && err == nil && !t.force.Given:
		return cli.Usagef("%s has an interrupted run; continue it with --resume, or begin again with --force",
			t.checkpointPath())
	}
	return nil
}

// checkResults refuses to replace what an earlier run has made. One that continues may find its own best adapter.
func (t *trainCommand) checkResults() error {
	var files []string
	if !t.resume {
		files = savedFiles(t.output)
	}
	if t.plot != "" {
		files = append(files, t.plot)
	}
	if t.dryRun {
		return nil
	}
	return t.force.Check(files...)
}

// checkpointPath is where checkpoints are.
func (t *trainCommand) checkpointPath() string {
	if t.checkpoint != "" {
		return t.checkpoint
	}
	return strings.TrimRight(t.output, `/\`) + ".checkpoint"
}

// split reads the examples and holds some out.
func (t *trainCommand) split(ctx context.Context, model *gemma4.Model) (*dataset.Set, finetune.Data, error) {
	part, file, err := heldOut(t.held)
	if err != nil {
		return nil, finetune.Data{}, err
	}
	set, err := t.examples.Read(ctx, t.env, model, t.data)
	if err != nil {
		return nil, finetune.Data{}, err
	}
	if part == autoHeldOut {
		part = finetune.DefaultHeldOut(len(set.Records))
	}
	train, held := dataset.HoldOut(len(set.Records), part)
	data := finetune.Data{Train: set.All(train), HeldOut: set.All(held)}
	if file == "" {
		return set, data, nil
	}
	other, err := t.examples.Read(ctx, t.env, model, file)
	if err != nil {
		return nil, data, err
	}
	flagset.WarnOf(t.env, other)
	data.HeldOut = append(data.HeldOut, other.Whole()...)
	return set, data, nil
}

func (t *trainCommand) trainer(ctx context.Context, model *gemma4.Model, data finetune.Data,
	config finetune.Config) (*finetune.Trainer, error) {
	if t.resume {
		return finetune.ResumeFile(ctx, model, data, t.checkpointPath())
	}
	kept, err := t.rehearse(ctx, model)
	if err != nil {
		return nil, err
	}
	data.Rehearsed = kept
	return finetune.New(ctx, model, data, config)
}

// rehearse lets the model make up what the run holds it to.
func (t *trainCommand) rehearse(ctx context.Context, model *gemma4.Model) ([]dataset.Example, error) {
	n, err := t.training.kept()
	if err != nil || n < 0 || t.dryRun {
		return nil, err
	}
	progress := terminal.NewProgress(t.env.Err, false)
	defer progress.Clear()
	return finetune.Rehearse(ctx, model, finetune.Rehearsal{
		Conversations: n, Seed: t.training.config.Seed,
		Progress: func(done, total int) { progress.Set("rehearsing", int64(done), int64(total)) },
	})
}

// train makes the steps and writes what comes out.
func (t *trainCommand) train(ctx context.Context, trainer *finetune.Trainer, progress *trainProgress) error {
	if !t.resume { // what --force is to replace
		if err := os.Remove(t.checkpointPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	best := false // whether the best adapter so far is written
	for event, err := range trainer.Run(ctx) {
		if err != nil {
			progress.done()
			if errors.Is(err, finetune.ErrDiverged) {
				return fmt.Errorf("%w; %s", err, t.beginAnew(trainer.Config()))
			}
			return t.interrupted(ctx, trainer, err)
		}
		if err := progress.step(event); err != nil {
			return err
		}
		if event.Best && trainer.Config().Patience > 0 {
			if err := t.write(ctx, trainer); err != nil {
				return t.rescue(ctx, trainer, err)
			}
			best = true
		}
		if every := t.checkpointEvery; every > 0 && event.Step%every == 0 && event.Step < event.Steps &&
			!event.Stopped {
			if err := trainer.SaveCheckpoint(context.WithoutCancel(ctx), t.checkpointPath()); err != nil {
				progress.done()
				t.env.Say("gemwire: no checkpoint after step %d: %s; the run continues", event.Step, cli.Sentence(err))
			}
		}
	}
	progress.done()
	if !best && !(t.resume && trainer.Config().Patience > 0 && flagset.IsThere(savedFiles(t.output)[0])) {
		if err := t.write(ctx, trainer); err != nil {
			return t.rescue(ctx, trainer, err)
		}
	}
	if t.plot != "" {
		if err := progress.losses.save(t.env, t.plot); err != nil {
			return err
		}
	}
	if t.checkpoint == "" {
		if err := os.Remove(t.checkpointPath()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return progress.end(ctx)
}

// write writes the adapter as it is now.
func (t *trainCommand) write(ctx context.Context, trainer *finetune.Trainer) error {
	a, err := trainer.Adapter(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	if err := a.Save(t.output); err != nil {
		return fmt.Errorf("the adapter could not be written: %w", err)
	}
	return nil
}

// interrupted keeps what a run that ended early has come to.
func (t *trainCommand) interrupted(ctx context.Context, trainer *finetune.Trainer, err error) error {
	if ctx.Err() == nil || trainer.Done() == 0 {
		return cli.Advised(err)
	}
	if path, saveErr := t.saveSteps(ctx, trainer); saveErr != nil {
		t.env.Say("gemwire: the steps are lost: %s", cli.Sentence(saveErr))
	} else {
		t.env.Say("stopped after step %d; continue with: %s", trainer.Done(), t.goOn(path))
	}
	return err
}

// rescue keeps the steps of a run whose adapter could not be written.
func (t *trainCommand) rescue(ctx context.Context, trainer *finetune.Trainer, err error) error {
	path, saveErr := t.saveSteps(ctx, trainer)
	if saveErr != nil {
		return fmt.Errorf("%w; the steps are lost, too: %w", err, saveErr)
	}
	return fmt.Errorf("%w; no step is lost: make room for it, then: %s", err, t.goOn(path))
}

// saveSteps writes a checkpoint where checkpoints are or, where that fails, among the
// system's temporary files.
func (t *trainCommand) saveSteps(ctx context.Context, trainer *finetune.Trainer) (path string, err error) {
	ctx = context.WithoutCancel(ctx)
	if err = trainer.SaveCheckpoint(ctx, t.checkpointPath()); err == nil {
		return t.checkpointPath(), nil
	}
	folder, tempErr := os.MkdirTemp("", "gemwire-train-*")
	if tempErr != nil {
		return "", errors.Join(err, tempErr)
	}
	path = filepath.Join(folder, filepath.Base(t.checkpointPath()))
	if tempErr := trainer.SaveCheckpoint(ctx, path); tempErr != nil {
		return "", errors.Join(err, tempErr, os.RemoveAll(folder))
	}
	return path, nil
}

package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gemwire/gemwire/finetune"
	"github.com/gemwire/gemwire/finetune/dataset"
	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

// trainCommand trains an adapter.
type trainCommand struct {
	env      *environment
	model    modelFlags
	media    mediaFlags
	examples exampleFlags
	training trainFlags

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

func newTrain(env *environment) *cobra.Command {
	t := &trainCommand{env: env}
	t.examples.media = &t.media
	cmd := &cobra.Command{
		Use:   "train DATA",
		Short: "Teach a model with examples: train a LoRA adapter",
		Long: `Train a LoRA adapter on a JSONL file, one example a line:

  {"prompt": "Who are you?", "completion": "I am Gem."}
  {"messages": [{"role": "user", "content": "…"}, {"role": "assistant", "content": "…"}]}
  {"conversations": [{"from": "human", "value": "…"}, {"from": "gpt", "value": "…"}]}
  {"text": "…"}

A message may show pictures and recordings, beside the examples or in data URLs:

  {"role": "user", "content": [{"type": "image", "url": "cat.png"}, {"type": "text", "text": "What is it?"}]}

The last answer of a line is what the model learns to say, of a text every word.
The model's own weights stay as they are. The adapter is written as PEFT's folder,
or as llama.cpp's file where its name ends in .gguf.

Meanwhile the model is held to what it knows: before the first step it makes up
conversations, and each step takes some of them, so that its answers there stay as
likely as they were (--keep).

Ctrl-C ends a run with a checkpoint, from which --resume goes on.`,
		Example: examples(
			`gemwire train facts.jsonl -o facts`,
			`gemwire train facts.jsonl --preview 3 --dry-run`,
			`gemwire train chats.jsonl --model gemma4:e2b --rank 16 --epochs 2 --rate 1e-4 --all-turns -o my-adapter`,
			`gemwire train chats.jsonl --model gemma4:e2b --held-out held.jsonl --evaluate-every 20 --patience 3 --plot loss.svg`,
			`gemwire train chats.jsonl --model gemma4:e2b --resume`,
			`gemwire chat gemma4:e2b --lora my-adapter`,
		),
		Args: args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			t.data, t.again = list[0], cmd.Flags()
			return t.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	f.StringVarP(&t.output, "output", "o", "my-adapter", "write the adapter to this `FOLDER`, or file ending in .gguf")
	t.training.register(f)
	t.examples.register(f)
	f.StringVar(&t.held, "held-out", "5%", "judge by this `PART` of the lines, or by another FILE's; none judges by nothing")
	f.StringVar(&t.checkpoint, "checkpoint", "", "keep checkpoints in this `FILE` (default: beside the adapter, until that is written)")
	f.IntVar(&t.checkpointEvery, "checkpoint-every", 50, "write one every `N` steps; 0 only at Ctrl-C")
	f.BoolVar(&t.resume, "resume", false, "go on from the checkpoint")
	f.IntVar(&t.preview, "preview", 0, "show `N` examples as the model reads them, with what it learns to say marked")
	f.BoolVar(&t.dryRun, "dry-run", false, "show the plan and end")
	f.StringVar(&t.plot, "plot", "", "draw the losses into this `FILE`, an SVG")
	f.BoolVar(&t.json, "json", false, "print plan, steps and result as lines of JSON")
	t.model.register(f)
	t.media.register(f)
	return cmd
}

func (t *trainCommand) run(ctx context.Context) error {
	config, err := t.settings()
	if err != nil {
		return err
	}
	t.model.tablesInFile = true
	model, err := t.model.open(ctx, t.env, t.model.model)
	if err != nil {
		return err
	}
	defer model.Close()
	if _, err := t.media.attach(t.env, model); err != nil {
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
	if err != nil {
		return fmt.Errorf("%w%s", err, adviceFor(err, noReference))
	}
	defer trainer.Close()
	progress := newTrainProgress(t, model, trainer)
	if err := progress.plan(set, data); err != nil || t.dryRun {
		return err
	}
	return t.train(ctx, trainer, progress)
}

// settings are what the flags say, checked before anything is opened.
func (t *trainCommand) settings() (finetune.Config, error) {
	config, err := t.training.settings()
	if err := errors.Join(err, t.examples.check(), t.media.check()); err != nil {
		return config, err
	}
	if t.preview < 0 || t.checkpointEvery < 0 {
		return config, usagef("--preview is %d and --checkpoint-every %d; neither may be negative", t.preview, t.checkpointEvery)
	}
	if t.plot != "" && !isSVG(t.plot) {
		return config, usagef("--plot %q: the drawing is an SVG; name it so", t.plot)
	}
	if t.data == standardOutput && t.held == standardOutput {
		return config, usagef("both files on standard input; name one")
	}
	if changed := t.training.changed(); t.resume && len(changed) > 0 {
		return config, usagef("%s cannot change in a run under way; leave out --resume to begin a new one", strings.Join(changed, ", "))
	}
	if _, _, err := heldOut(t.held); err != nil {
		return config, err
	}
	_, err = os.Stat(t.checkpointPath())
	switch {
	case t.resume && errors.Is(err, fs.ErrNotExist):
		return config, usagef("there is no checkpoint %s to go on from", t.checkpointPath())
	case !t.resume && !t.dryRun && err == nil:
		return config, usagef("%s holds a run that was interrupted; go on with --resume, or delete it", t.checkpointPath())
	}
	return config, nil
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
	set, err := t.examples.read(ctx, t.env, model, t.data)
	if err != nil {
		return nil, finetune.Data{}, err
	}
	train, held := dataset.HoldOut(len(set.Records), part)
	data := finetune.Data{Train: set.All(train), Held: set.All(held)}
	if file == "" {
		return set, data, nil
	}
	other, err := t.examples.read(ctx, t.env, model, file)
	if err != nil {
		return nil, data, err
	}
	warnOf(t.env, other)
	data.Held = append(data.Held, other.Whole()...)
	return set, data, nil
}

func (t *trainCommand) trainer(ctx context.Context, model *gemma4.Model, data finetune.Data, config finetune.Config) (*finetune.Trainer, error) {
	if t.resume {
		return finetune.ResumeFile(ctx, model, data, t.checkpointPath())
	}
	kept, err := t.rehearse(ctx, model)
	if err != nil {
		return nil, err
	}
	data.Kept = kept
	return finetune.New(ctx, model, data, config)
}

// rehearse lets the model make up what the run holds it to.
func (t *trainCommand) rehearse(ctx context.Context, model *gemma4.Model) ([]dataset.Example, error) {
	n, err := t.training.kept()
	if err != nil || n < 0 || t.dryRun {
		return nil, err
	}
	progress := terminal.NewProgress(t.env.err, false)
	defer progress.Clear()
	return finetune.Rehearse(ctx, model, finetune.Rehearsal{
		Conversations: n, Seed: t.training.config.Seed,
		Progress: func(done, total int) { progress.Set("rehearsing", int64(done), int64(total)) },
	})
}

// train makes the steps and writes what comes out.
func (t *trainCommand) train(ctx context.Context, trainer *finetune.Trainer, progress *trainProgress) error {
	best := false // whether the best adapter so far is written
	for event, err := range trainer.Run(ctx) {
		if err != nil {
			progress.done()
			return t.interrupted(ctx, trainer, err)
		}
		if err := progress.step(event); err != nil {
			return err
		}
		if event.Best && trainer.Config().Patience > 0 {
			if err := t.write(ctx, trainer); err != nil {
				return err
			}
			best = true
		}
		if every := t.checkpointEvery; every > 0 && event.Step%every == 0 && event.Step < event.Steps && !event.Stopped {
			if err := trainer.SaveCheckpoint(context.WithoutCancel(ctx), t.checkpointPath()); err != nil {
				return fmt.Errorf("writing a checkpoint: %w", err)
			}
		}
	}
	progress.done()
	if !best && !(t.resume && trainer.Config().Patience > 0 && isThere(t.output)) {
		if err := t.write(ctx, trainer); err != nil {
			return err
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
	return progress.end()
}

// write writes the adapter as it is now.
func (t *trainCommand) write(ctx context.Context, trainer *finetune.Trainer) error {
	a, err := trainer.Adapter(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	if err := a.Save(t.output); err != nil {
		return fmt.Errorf("writing the adapter to %s: %w; the checkpoint, if there is one, stays", t.output, err)
	}
	return nil
}

// interrupted keeps what a run that ended early has come to.
func (t *trainCommand) interrupted(ctx context.Context, trainer *finetune.Trainer, err error) error {
	if ctx.Err() == nil || trainer.Done() == 0 {
		return fmt.Errorf("%w%s", err, adviceFor(err, noReference))
	}
	if saveErr := trainer.SaveCheckpoint(context.WithoutCancel(ctx), t.checkpointPath()); saveErr != nil {
		t.env.say("gemwire: the checkpoint could not be written: %s", sentence(saveErr))
		return err
	}
	t.env.say("stopped after step %d; go on with: %s", trainer.Done(), t.goOn())
	return err
}

// goOn is the command line that resumes the run.
func (t *trainCommand) goOn() string {
	words := []string{"gemwire", "train", t.data}
	t.again.Visit(func(f *pflag.Flag) {
		if f.Name == "resume" || f.Name == "preview" || t.training.flags.Lookup(f.Name) != nil {
			return
		}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			for _, v := range list.GetSlice() {
				words = append(words, "--"+f.Name, v)
			}
			return
		}
		if f.Value.Type() == "bool" {
			words = append(words, "--"+f.Name)
			return
		}
		words = append(words, "--"+f.Name, f.Value.String())
	})
	words = append(words, "--resume")
	for i, w := range words {
		if strings.ContainsAny(w, " '\"$&|;<>()*?") {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

package training

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gemwire/gemwire/finetune"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/tools/internal/cli"
)

// goOn is the command line that resumes the run from a checkpoint.
func (t *trainCommand) goOn(checkpoint string) string {
	words := t.words(func(flag string) bool { return t.training.flags.Lookup(flag) != nil || flag == "checkpoint" })
	if t.checkpoint != "" || checkpoint != t.checkpointPath() {
		words = append(words, "--checkpoint", checkpoint)
	}
	return shellLine(append(words, "--resume"))
}

// beginAnew says how to run again with a lower rate. A run that was resumed has flags in its checkpoint that were not
// typed.
func (t *trainCommand) beginAnew(c finetune.Config) string {
	rate := fmt.Sprintf("%.2g", c.Schedule.Peak/10)
	if t.resume {
		return fmt.Sprintf("begin a new run with --rate %s, and with --force instead of --resume", rate)
	}
	words := t.words(func(flag string) bool { return flag == "rate" || flag == "force" })
	return "begin again: " + shellLine(append(words, "--rate", rate, "--force")) // which replaces the checkpoint
}

// words are those of the command line, without some flags.
func (t *trainCommand) words(without func(flag string) bool) []string {
	words := []string{"gemwire", "train", t.data}
	t.again.Visit(func(f *pflag.Flag) {
		if f.Name == "resume" || f.Name == "preview" || without(f.Name) {
			return
		}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			for _, v := range list.GetSlice() {
				words = append(words, "--"+f.Name, v)
			}
			return
		}
		if f.Value.Type() == "bool" { // a value of its own needs =
			words = append(words, strings.TrimSuffix("--"+f.Name+"="+f.Value.String(), "=true"))
			return
		}
		words = append(words, "--"+f.Name, f.Value.String())
	})
	return words
}

// shellLine is words as a shell reads them.
func shellLine(words []string) string {
	for i, w := range words {
		if strings.ContainsAny(w, " '\"$&|;<>()*?") {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// inCheckpoint are the flags whose values a resumed run has in its checkpoint.
var inCheckpoint = map[string]func(c finetune.Config) string{
	"rank":           func(c finetune.Config) string { return fmt.Sprint(c.Rank) },
	"alpha":          func(c finetune.Config) string { return fmt.Sprint(c.Alpha) },
	"layers":         func(c finetune.Config) string { return listed(slices.Sorted(slices.Values(c.Layers))) },
	"linears":        func(c finetune.Config) string { return listed(slices.Sorted(slices.Values(c.Linears))) },
	"epochs":         func(c finetune.Config) string { return fmt.Sprint(c.Epochs) },
	"steps":          func(c finetune.Config) string { return fmt.Sprint(c.Steps) },
	"batch":          func(c finetune.Config) string { return fmt.Sprint(c.Batching.Examples) },
	"batch-tokens":   func(c finetune.Config) string { return fmt.Sprint(c.Batching.Tokens) },
	"accumulate":     func(c finetune.Config) string { return fmt.Sprint(c.Accumulate) },
	"rate":           func(c finetune.Config) string { return fmt.Sprint(c.Schedule.Peak) },
	"schedule":       func(c finetune.Config) string { return fmt.Sprint(c.Schedule.Kind) },
	"restarts":       func(c finetune.Config) string { return fmt.Sprint(c.Schedule.Cycles) },
	"warmup":         func(c finetune.Config) string { return fmt.Sprint(c.Schedule.Warmup) },
	"decay":          func(c finetune.Config) string { return fmt.Sprint(c.Optimizer.Decay) },
	"clip":           func(c finetune.Config) string { return fmt.Sprint(c.Optimizer.Clip) },
	"word-dropout":   func(c finetune.Config) string { return fmt.Sprint(max(c.WordDropout, 0)) },
	"seed":           func(c finetune.Config) string { return fmt.Sprint(c.Seed) },
	"evaluate-every": func(c finetune.Config) string { return fmt.Sprint(c.EvaluateEvery) },
	"patience":       func(c finetune.Config) string { return fmt.Sprint(c.Patience) },
	"recompute":      func(c finetune.Config) string { return map[bool]string{true: "on", false: "auto"}[c.Recompute] },
	"precision":      func(c finetune.Config) string { return cmp.Or(c.Precision, "auto") },
}

// checkResumed refuses flags that say something else than what a resumed run began with.
func (f *trainFlags) checkResumed(run finetune.Config, rehearsed int) error {
	given, err := f.settings()
	if err != nil {
		return err
	}
	given.Alpha = cmp.Or(given.Alpha, 2*float64(run.Rank))
	given.Schedule.Cycles = cmp.Or(given.Schedule.Cycles, 1)
	given.Schedule.Warmup = cmp.Or(given.Schedule.Warmup, run.Schedule.Steps/20)
	if given.Linears == nil {
		given.Linears = adapter.All()
	}
	differs := func(name, began string) error {
		return cli.Usagef("--%s cannot change during a run, which began with %s; leave it out, or begin a new run with "+
			"--force instead of --resume", name, began)
	}
	f.flags.VisitAll(func(flag *pflag.Flag) {
		if value := inCheckpoint[flag.Name]; err == nil && flag.Changed && value != nil && value(given) != value(run) {
			err = differs(flag.Name, cmp.Or(value(run), "all"))
		}
	})
	if n, _ := f.kept(); err == nil && f.flags.Changed("keep") && (n < 0) != (rehearsed == 0) {
		err = differs("keep", cli.Counted(rehearsed, "conversation"))
	}
	return err
}

package training

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gemwire/gemwire/finetune"
	"github.com/gemwire/gemwire/finetune/dataset"
	"github.com/gemwire/gemwire/finetune/optimizer"
	"github.com/gemwire/gemwire/finetune/schedule"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/tools/internal/cli"
)

// trainFlags say what is trained and how. A run that is resumed has them in its
// checkpoint.
type trainFlags struct {
	flags     *pflag.FlagSet // those below
	config    finetune.Config
	layers    string
	linears   []string
	batch     dataset.Batching
	schedule  schedule.Schedule
	kind      string
	decay     float64
	clip      float64
	keep      string
	recompute string
}

func (f *trainFlags) register(flags *pflag.FlagSet) {
	o := optimizer.Default()
	f.flags = pflag.NewFlagSet("training", pflag.ContinueOnError)
	f.flags.SortFlags = false
	s, c := f.flags, &f.config
	s.IntVar(&c.Rank, "rank", 16, "use adapter matrices of this `RANK`")
	s.Float64Var(&c.Alpha, "alpha", 0, "scale them by `ALPHA` / rank (default: twice the rank)")
	s.StringVar(&f.layers, "layers", "", "train only these `LAYERS`, such as 0-11,20 (default: all)")
	s.StringSliceVar(&f.linears, "linears", nil,
		"train only these `LINEARS`: q, k, v, output, gate, up, down (default: all)")
	s.IntVar(&c.Epochs, "epochs", 0, "go `N` times through the examples (default: 3, or as many up to 100 as make "+
		"400 steps)")
	s.IntVar(&c.Steps, "steps", 0, "make `N` steps, regardless of epochs")
	s.IntVar(&f.batch.Examples, "batch", 0, "use at most `N` examples per batch (default: a tenth of all, 1 to 8; 8 with "+
		"--steps)")
	s.IntVar(&f.batch.Tokens, "batch-tokens", 2048,
		"use at most this many `TOKENS` per batch, unless one example has more")
	s.IntVar(&c.Accumulate, "accumulate", 1, "use `N` batches per step")
	s.Float64Var(&f.schedule.Peak, "rate", 0,
		"the maximum learning `RATE` (default: 2e-4, more for models narrower than 1536)")
	s.StringVar(&f.kind, "schedule", string(schedule.Cosine),
		"how the rate changes after the warm-up: constant, linear, cosine, cosine-restarts")
	s.IntVar(&f.schedule.Cycles, "restarts", 1, "decay `N` times, with cosine-restarts")
	s.IntVar(&f.schedule.Warmup, "warmup", 0, "warm up over `N` steps (default: a twentieth of all)")
	s.Float64Var(&f.decay, "decay", o.Decay, "decay weights by this `PART` of the rate")
	s.Float64Var(&f.clip, "clip", o.Clip, "clip gradients to this `NORM`; 0 means never")
	s.Float64Var(&c.WordDropout, "word-dropout", finetune.DefaultWordDropout,
		"from the fourth time on, drop or replace this `PART` of the question's words that its answer does not "+
			"have, so that other wordings work; 0 turns it off")
	s.Uint64Var(&c.Seed, "seed", 0, "the same `SEED` gives the same run")
	s.IntVar(&c.EvaluateEvery, "evaluate-every", 0,
		"evaluate the held-out examples every `N` steps (default: at the end of each epoch)")
	s.IntVar(&c.Patience, "patience", 0,
		"stop after `N` evaluations in a row without improvement, and keep the best adapter")
	s.StringVar(&f.keep, "keep", "auto",
		"keep the model's answers to `N` conversations that it makes up before the run, so that it does not "+
			"forget: auto, none, or a number")
	s.StringVar(&f.recompute, "recompute", "auto",
		"compute layers again in the backward pass instead of storing activations: `auto|on`; auto does it if "+
			"memory is short")
	s.StringVar(&c.Precision, "precision", "auto",
		"how to store activations on a GPU: `auto|f32|f16`; auto uses f16 if memory is short")
	flags.AddFlagSet(s)
}

// settings are what the flags say.
func (f *trainFlags) settings() (finetune.Config, error) {
	c := f.config
	o := optimizer.Default()
	o.Decay, o.Clip = f.decay, f.clip
	c.Optimizer, c.Batching, c.Schedule = &o, f.batch, f.schedule
	c.Schedule.Kind = schedule.Kind(f.kind)
	if f.flags.Changed("epochs") && f.flags.Changed("steps") {
		return c, cli.Usagef("--epochs and --steps exclude each other; give one")
	}
	for name, n := range map[string]int{"rank": c.Rank, "batch": f.batch.Examples, "batch-tokens": f.batch.Tokens,
		"accumulate": c.Accumulate} {
		if n < 1 && (n < 0 || f.flags.Changed(name)) {
			return c, cli.Usagef("--%s is %d, wanted 1 or more", name, n)
		}
	}
	if c.Epochs < 0 || f.flags.Changed("epochs") && c.Epochs == 0 {
		return c, cli.Usagef("--epochs is %d, wanted 1 or more", c.Epochs)
	}
	for _, name := range []string{"steps", "restarts", "warmup", "evaluate-every", "patience"} {
		if n, _ := f.flags.GetInt(name); n < 0 {
			return c, cli.Usagef("--%s is %d, wanted 0 or more", name, n)
		}
	}
	for _, name := range []string{"alpha", "decay", "clip"} {
		if n, _ := f.flags.GetFloat64(name); !(n >= 0) || math.IsInf(n, 0) {
			return c, cli.Usagef("--%s is %v, wanted a number, 0 or more", name, n)
		}
	}
	if _, err := f.kept(); err != nil {
		return c, err
	}
	if err := f.checkSchedule(); err != nil {
		return c, err
	}
	if !(c.WordDropout >= 0 && c.WordDropout < 1) {
		return c, cli.Usagef("--word-dropout is %v, wanted a part from 0 to 1", c.WordDropout)
	}
	if c.WordDropout == 0 {
		c.WordDropout = finetune.NoWordDropout
	}
	if c.Precision == "auto" {
		c.Precision = ""
	}
	switch f.recompute {
	case "on":
		c.Recompute = true
	case "auto":
	default:
		return c, cli.Usagef("--recompute %q: use auto or on", f.recompute)
	}
	var err error
	if c.Layers, err = parseLayers(f.layers); err != nil {
		return c, err
	}
	c.Linears, err = parseLinears(f.linears)
	return c, err
}

// checkSchedule refuses what would come to light after minutes of rehearsal.
func (f *trainFlags) checkSchedule() error {
	if rate := f.schedule.Peak; f.flags.Changed("rate") && !(rate > 0 && rate <= finetune.MostRate) {
		return cli.Usagef("--rate is %v; wanted a number above 0 and at most %v, such as 2e-4", rate, finetune.MostRate)
	}
	if kinds := schedule.Kinds(); !slices.Contains(kinds, schedule.Kind(f.kind)) {
		return cli.Usagef("--schedule %q: use one of %s", f.kind, listed(kinds))
	}
	switch f.config.Precision {
	case "", "auto", "f32", "f16":
		return nil
	}
	return cli.Usagef("--precision %q: use auto, f32 or f16", f.config.Precision)
}

// kept is how many conversations --keep asks for, 0 for what suits the model, -1 for
// none.
func (f *trainFlags) kept() (int, error) {
	switch f.keep {
	case "auto":
		return 0, nil
	case "none":
		return -1, nil
	}
	n, err := strconv.Atoi(f.keep)
	if err != nil || n < 0 {
		return 0, cli.Usagef("--keep %q: use auto, none or a number", f.keep)
	}
	if n == 0 {
		n = -1
	}
	return n, nil
}

// maxLayer is above every model's.
const maxLayer = 10_000

// parseLayers reads 0-11,20; nothing is nil.
func parseLayers(text string) ([]int, error) {
	if text == "" {
		return nil, nil
	}
	var layers []int
	for _, part := range strings.Split(text, ",") {
		first, last, isRange := strings.Cut(strings.TrimSpace(part), "-")
		if !isRange {
			last = first
		}
		from, errFrom := strconv.Atoi(first)
		to, errTo := strconv.Atoi(last)
		if errFrom != nil || errTo != nil || from > to || to > maxLayer {
			return nil, cli.Usagef("--layers %q: use a list such as 0-11,20", text)
		}
		for i := from; i <= to; i++ {
			layers = append(layers, i)
		}
	}
	return layers, nil
}

// parseLinears takes the names of GGUF files, with or without what stands before
// the underscore.
func parseLinears(names []string) ([]adapter.Linear, error) {
	var list []adapter.Linear
	for _, name := range names {
		l, err := adapter.ParseLinear(name)
		if err != nil {
			return nil, cli.Usagef("--linears: %v", err)
		}
		list = append(list, l)
	}
	return list, nil
}

// autoHeldOut is the part of the lines that is held out where their number decides.
const autoHeldOut = -1

// heldOut reads 5%, auto or a file's name.
func heldOut(text string) (part float64, file string, err error) {
	if text == "auto" {
		return autoHeldOut, "", nil
	}
	percent, isPercent := strings.CutSuffix(text, "%")
	if !isPercent {
		if text == "" || text == "0" || text == "none" {
			return 0, "", nil
		}
		return 0, text, nil
	}
	p, err := strconv.ParseFloat(strings.TrimSpace(percent), 64)
	if err != nil || !(p >= 0 && p < 100) {
		return 0, "", cli.Usagef("--held-out %q: use a share such as 5%%, auto, none, or a file", text)
	}
	return p / 100, "", nil
}

// linearNames lists linears for people.
func linearNames(list []adapter.Linear) string {
	if len(list) == len(adapter.All()) {
		return "all linears"
	}
	names := make([]string, len(list))
	for i, l := range list {
		names[i] = l.String()
	}
	return strings.Join(names, ", ")
}

// layerNames lists layers for people.
func layerNames(layers []int, of int) string {
	if layers == nil {
		return fmt.Sprintf("all %d layers", of)
	}
	return fmt.Sprintf("%d of %d layers", len(layers), of)
}

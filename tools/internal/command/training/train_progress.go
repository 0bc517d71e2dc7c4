package training

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/gemwire/gemwire/finetune"
	"github.com/gemwire/gemwire/finetune/dataset"
	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/command/flagset"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

// trainProgress tells how a run goes: to people on standard error, a line that
// changes on a terminal and one for each step elsewhere; with --json on standard
// output.
type trainProgress struct {
	command *trainCommand
	model   *gemma4.Model
	trainer *finetune.Trainer
	losses  lossCurve
	last    finetune.Event
	begun   time.Time
	live    bool // whether a line is being rewritten

	examples []dataset.Example // that are learned
}

func newTrainProgress(t *trainCommand, model *gemma4.Model, trainer *finetune.Trainer) *trainProgress {
	return &trainProgress{command: t, model: model, trainer: trainer, begun: time.Now()}
}

// Plan is what a run will take.
type Plan struct {
	Type    string        `json:"type"`
	Model   string        `json:"model"`
	Device  string        `json:"device"`
	Plan    finetune.Plan `json:"plan"`
	Config  Settings      `json:"config"`
	Done    int           `json:"done"` // steps made before
	HeldOut int           `json:"heldOut"`
	// HeldOutLines are the lines of the data that are held out.
	HeldOutLines []int    `json:"heldOutLines,omitempty"`
	Skipped      []string `json:"skipped,omitempty"`
	Cut          int      `json:"cut,omitempty"` // examples that lost their ends
	Output       string   `json:"output"`
}

// plan says what the run will take.
func (p *trainProgress) plan(set *dataset.Set, data finetune.Data) error {
	p.examples = data.Train
	t, plan, c, info := p.command, p.trainer.Plan(), p.trainer.Config(), p.model.Info()
	if t.json {
		out := Plan{
			Type: "plan", Model: info.Name, Device: info.DeviceName, Plan: plan, Config: settingsOf(c), Done: p.trainer.Done(),
			HeldOut: len(data.HeldOut), HeldOutLines: t.heldOutLines(data), Output: t.output,
		}
		for _, e := range set.Bad {
			out.Skipped = append(out.Skipped, e.Error())
		}
		for _, e := range append(data.Train, data.HeldOut...) {
			out.Cut += min(e.Cut, 1)
		}
		return p.print(out)
	}
	env := t.env
	env.Say("model      %s on %s", flagset.Printable(info.Name), info.DeviceName)
	env.Say("examples   %d to learn from (%s tokens, %s of them answers), %s", plan.Examples,
		humanize.Comma(plan.Tokens), humanize.Comma(plan.Targets), t.heldText(data))
	flagset.WarnOf(env, set)
	env.Say("adapter    rank %d on %s of %s: %s numbers, into %s", c.Rank, linearNames(c.Linears),
		layerNames(c.Layers, info.Layers), humanize.Comma(plan.Parameters), t.output)
	env.Say("steps      %s, rate %s %.2g, warm-up %d", stepsText(plan.Steps, c)+t.batchNote(c), c.Schedule.Kind,
		c.Schedule.Peak, c.Schedule.Warmup)
	env.Say(
		"memory     up to %s in addition to the weights, "+
			"%s", humanize.Bytes(uint64(plan.Bytes)), recomputedText(plan, info.Layers))
	if plan.Rehearsed > 0 {
		env.Say("kept       %s that the model made up", cli.Counted(plan.Rehearsed, "conversation"))
	}
	if done := p.trainer.Done(); done > 0 {
		env.Say("resumed    after step %d", done)
	}
	return nil
}

// heldOutLines are the lines of the data that are held out, none where that is another file.
func (t *trainCommand) heldOutLines(data finetune.Data) (lines []int) {
	if _, file, err := heldOut(t.held); err != nil || file != "" {
		return nil
	}
	for _, e := range data.HeldOut {
		lines = append(lines, e.Line)
	}
	return slices.Compact(lines)
}

// heldText says what is held out, by the first of its lines.
func (t *trainCommand) heldText(data finetune.Data) string {
	if len(data.HeldOut) == 0 {
		return "none held out"
	}
	text := fmt.Sprintf("%d held out", len(data.HeldOut))
	lines := t.heldOutLines(data)
	if len(lines) == 0 {
		return text
	}
	var named []string
	for _, line := range lines[:min(len(lines), flagset.MostNamed)] {
		named = append(named, strconv.Itoa(line))
	}
	if len(lines) > flagset.MostNamed {
		named = append(named, "…")
	}
	return text + " and not learned (lines " + strings.Join(named, ", ") + ")"
}

// batchNote says that --steps changes the batch, which otherwise depends on the number of examples.
func (t *trainCommand) batchNote(c finetune.Config) string {
	if c.Steps == 0 || t.resume || t.training.flags.Changed("batch") {
		return ""
	}
	return " (as many with --steps; --batch N changes it)"
}

func stepsText(steps int, c finetune.Config) string {
	text := fmt.Sprintf("%d", steps)
	if c.Steps == 0 {
		text += " over " + cli.Counted(c.Epochs, "epoch")
	}
	text += fmt.Sprintf(", %s per batch", cli.Counted(c.Batching.Examples, "example"))
	if c.Accumulate > 1 {
		text += fmt.Sprintf(", %d batches per step", c.Accumulate)
	}
	return text
}

func recomputedText(p finetune.Plan, layers int) string {
	text := ""
	if p.Halves {
		text = "activations in f16, "
	}
	switch p.Recomputed {
	case 0:
		return text + "nothing is computed twice"
	case layers:
		return text + "all layers are computed again in the backward pass"
	}
	return text + fmt.Sprintf("%d of %d layers are computed again in the backward pass", p.Recomputed, layers)
}

// Step is a step's event with what the command knows.
type Step struct {
	Type string `json:"type"`
	finetune.Event
	TokensPerSecond float64 `json:"tokensPerSecond"`
	Memory          int64   `json:"memory"` // bytes in use
}

// step tells of a step.
func (p *trainProgress) step(e finetune.Event) error {
	p.last = e
	p.losses.add(e)
	speed := 0.0
	if e.Time > 0 {
		speed = float64(e.Tokens) / e.Time.Seconds()
	}
	if p.command.json {
		return p.print(Step{"step", e, speed, p.memory()})
	}
	line := fmt.Sprintf("step %*d/%d  loss %.4f  rate %.2e  %s tokens/s  %s left  %s",
		len(fmt.Sprint(e.Steps)), e.Step, e.Steps, e.Loss, e.Rate, humanize.Comma(int64(speed)), left(e.Remaining),
		humanize.Bytes(uint64(p.memory())))
	if e.HeldOutLoss != nil {
		line += fmt.Sprintf("  held out %.4f", *e.HeldOutLoss)
		if e.Best {
			line += " (best)"
		}
	}
	p.tell(line, e.HeldOutLoss != nil)
	if e.Stopped {
		p.command.env.Say("stopped early: the held-out loss no longer improves")
	}
	return nil
}

// tell shows a line, on a terminal in place of the one before unless that stays.
func (p *trainProgress) tell(line string, stays bool) {
	env := p.command.env
	if !terminal.IsTerminal(env.Err) {
		env.Say("%s", line)
		return
	}
	fmt.Fprintf(env.Err, "\r\x1b[K%s", line)
	if p.live = !stays; stays {
		fmt.Fprintln(env.Err)
	}
}

// done ends a line that is being rewritten.
func (p *trainProgress) done() {
	if p.live {
		fmt.Fprintln(p.command.env.Err)
		p.live = false
	}
}

// memory is what the model and the run use: of the GPU, or of the program.
func (p *trainProgress) memory() (n int64) {
	used := p.model.GPUMemory()
	for _, bytes := range used {
		n += bytes
	}
	if used == nil {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		n = int64(m.Sys - m.HeapReleased)
	}
	return n
}

// left is a time for people.
func left(d time.Duration) string {
	switch {
	case d >= time.Hour:
		return d.Round(time.Minute).String()
	case d >= time.Minute:
		return d.Round(time.Second).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

// Done is a run's result.
type Done struct {
	Type    string   `json:"type"`
	Output  string   `json:"output"`
	Steps   int      `json:"steps"`
	Loss    float64  `json:"loss"`                  // of the last step
	Best    *float64 `json:"heldOutLoss,omitempty"` // the lowest
	Stopped bool     `json:"stopped,omitempty"`
	Seconds float64  `json:"seconds"`
}

// mostJudged is how many examples tell whether a run was of use.
const mostJudged = 64

// warn tells of a run that made the model worse. The losses of steps are of questions that lack words, so that they
// alone do not show it.
func (p *trainProgress) warn(ctx context.Context) error {
	first, last, ok := p.losses.ends()
	if !ok || last <= first || p.command.resume {
		return nil
	}
	loss, err := p.trainer.Evaluate(context.WithoutCancel(ctx), p.examples[:min(len(p.examples), mostJudged)])
	if err != nil || loss <= first {
		return err
	}
	p.command.env.Say("gemwire: the loss ended at %.4f, above the %.4f that it began with: the adapter is of no use; "+
		"train again with a lower --rate than %.2g", loss, first, p.trainer.Config().Schedule.Peak)
	return nil
}

// end tells the result, and what to do with it.
func (p *trainProgress) end(ctx context.Context) error {
	t, held := p.command, p.losses.best()
	seconds := time.Since(p.begun)
	if err := p.warn(ctx); err != nil {
		return err
	}
	if t.json {
		out := Done{Type: "done", Output: t.output, Steps: p.trainer.Done(), Loss: p.last.Loss,
			Stopped: p.last.Stopped, Seconds: seconds.Seconds()}
		if !math.IsInf(held, 0) {
			out.Best = &held
		}
		return p.print(out)
	}
	t.env.Say("written    %s, after %s in %s", t.output, cli.Counted(p.trainer.Done(), "step"), left(seconds))
	if t.plot != "" {
		t.env.Say("drawn      %s", t.plot)
	}
	t.env.Say("try it     %s", strings.Join(strings.Fields("gemwire chat "+t.model.Model+" --lora "+t.output), " "))
	return nil
}

func (p *trainProgress) print(v any) error {
	return json.NewEncoder(p.command.env.Out).Encode(v)
}

// show prints the first examples as the model reads them.
func (t *trainCommand) show(model *gemma4.Model, set *dataset.Set) error {
	styles := t.env.Styles(t.env.Err)
	for i := range min(t.preview, len(set.Examples)) {
		for _, e := range set.Examples[i] {
			pieces, err := dataset.Preview(model.Tokenizer(), &e)
			if err != nil {
				return err
			}
			t.env.Say("line %d, %s, %d of them to learn:", e.Line, cli.Counted(len(e.Tokens), "token"), e.Asked())
			var text strings.Builder
			for _, p := range pieces {
				if !p.Target {
					text.WriteString(styles.Dim.Apply(flagset.Harmless(p.Text)))
					continue
				}
				text.WriteString("⟦" + styles.Bold.Apply(flagset.Harmless(p.Text)) + "⟧")
			}
			t.env.Say("%s\n", text.String())
		}
	}
	return nil
}

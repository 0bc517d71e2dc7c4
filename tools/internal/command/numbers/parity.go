package numbers

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/nano"
	"github.com/gemwire/gemwire/gemma4/parity"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/multimodal"
	mediaparity "github.com/gemwire/gemwire/multimodal/parity"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/terminal"
	"github.com/gemwire/gemwire/wgslkit"
)

// parityCommand compares with references.
type parityCommand struct {
	env    *cli.Environment
	model  cli.ModelFlags
	ollama parity.Ollama
	json   bool

	styles         terminal.Styles
	results        []parityResult
	passed, failed int
	kernels        map[string]bool // that answers took, on the GPU
}

// bothDevices is a value of --device that other commands do not have.
const bothDevices = "both"

func NewParity(env *cli.Environment) *cobra.Command {
	p := &parityCommand{env: env}
	cmd := &cobra.Command{
		Use:   "parity DIR|CASE",
		Short: "Compare with the reference implementation",
		Long: `Run conformance cases: small models, prompts, images, clips and conversations
with the results of a reference implementation. Each error is printed with its limit;
if one is larger, the exit status is 1. Prompts are also computed as answers compute
them, in chunks and then token by token; the kernels that did it on a GPU are listed.

A text with its perplexity and largest logits is run on the file of --model.

With --against-ollama, ask a running Ollama for the greedy answers to some
prompts, and compare them with those of the same model here.`,
		Example: cli.Examples(
			`gemwire parity testdata/conformance`,
			`gemwire parity testdata/conformance/e2b --device gpu`,
			`gemwire parity testdata/conformance --json > parity.json`,
			`gemwire parity testdata/conformance/gemma3-270m --model gemma-3-270m-q4_k_m.gguf`,
			`gemwire parity --against-ollama http://localhost:11434 --model gemma4:e2b "Why is the sky blue?"`,
		),
		Args: cli.Args(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, list []string) error { return p.run(cmd.Context(), list) },
	}
	cmd.Flags().StringVar(&p.ollama.URL, "against-ollama", "", "compare greedy answers with the Ollama at this `URL`")
	cmd.Flags().IntVar(&p.ollama.Tokens, "tokens", 64, "compare at most this `N` of them with Ollama")
	cmd.Flags().BoolVar(&p.json, "json", false, "print all comparisons as JSON")
	p.model.Register(cmd.Flags())
	cmd.Flags().Lookup("device").Usage = "where to compute: `gpu, cpu or both` (default: both, if there is a GPU)"
	return cmd
}

func (p *parityCommand) run(ctx context.Context, list []string) error {
	p.styles = p.env.Styles(p.env.Out)
	switch {
	case p.ollama.URL != "" && p.model.Model == "":
		return cli.Usagef("--against-ollama needs the name of a model that Ollama has; give one with --model")
	case p.ollama.URL != "" && !strings.HasPrefix(p.ollama.URL, "http://") && !strings.HasPrefix(p.ollama.URL, "https://"):
		return cli.Usagef("--against-ollama %q: use an address such as http://localhost:11434", p.ollama.URL)
	case p.ollama.Tokens < 1:
		return cli.Usagef("--tokens is %d; wanted 1 or more", p.ollama.Tokens)
	case p.ollama.URL == "" && len(list) == 0:
		return cli.Usagef("nothing to compare with; give a folder with cases, a case, or --against-ollama URL")
	}
	var err error
	if p.ollama.URL != "" {
		err = p.compareOllama(ctx, list)
	} else {
		err = p.runCases(ctx, list)
	}
	if err != nil {
		return err
	}
	return p.finish()
}

// took notes kernels that answers took.
func (p *parityCommand) took(names []string) {
	if p.kernels == nil {
		p.kernels = map[string]bool{}
	}
	for _, name := range names {
		p.kernels[name] = true
	}
}

// finish prints the summary.
func (p *parityCommand) finish() error {
	if p.json {
		if err := p.env.PrintJSON(map[string]any{"checks": p.results, "passed": p.passed,
			"failed": p.failed, "kernels": slices.Sorted(maps.Keys(p.kernels))}); err != nil {
			return err
		}
	} else {
		for _, name := range slices.Sorted(maps.Keys(p.kernels)) {
			fmt.Fprintf(p.env.Out, "took %s\n", name)
		}
		fmt.Fprintf(p.env.Out, "%s, %d failed\n", cli.Counted(p.passed+p.failed, "comparison"), p.failed)
	}
	if p.failed > 0 {
		return cli.ErrReported
	}
	return nil
}

func (p *parityCommand) runCases(ctx context.Context, paths []string) error {
	var cases []parity.Case
	for _, path := range paths {
		found, err := parity.Find(path)
		if err != nil {
			return fmt.Errorf("%w; name a folder such as testdata/conformance, or a case in it", err)
		}
		cases = append(cases, found...)
	}
	devices, err := p.devices()
	if err != nil {
		return err
	}
	textModel, cases, err := p.textModel(cases)
	if err != nil {
		return err
	}
	for _, c := range cases {
		for i, device := range devices {
			if i > 0 && c.Kind != parity.ModelCase && c.Kind != parity.TextCase {
				continue // nothing is computed
			}
			if err := p.runCase(ctx, c, device, textModel); err != nil {
				return err
			}
		}
	}
	return nil
}

// textModel is the file of --model, which text cases are run on; all others have their own. Without it, text cases
// among others are left out, with a word.
func (p *parityCommand) textModel(cases []parity.Case) (string, []parity.Case, error) {
	texts := func(c parity.Case) bool { return c.Kind == parity.TextCase }
	rest := slices.DeleteFunc(slices.Clone(cases), texts)
	switch some := len(rest) < len(cases); {
	case some && p.model.Model == "" && len(rest) == 0:
		return "", nil, cli.Usagef("the model of this case is not next to it; give its file with --model")
	case some && p.model.Model == "":
		for _, c := range cases {
			if texts(c) {
				p.env.Say("gemwire: leaving out %s, whose model is not here; give its file with --model", c.Name)
			}
		}
		return "", rest, nil
	case !some && p.model.Model != "":
		return "", nil, cli.Usagef("--model is for --against-ollama and for texts; other cases have their own models")
	case !some:
		return "", cases, nil
	}
	found, err := p.env.Finder().Find(p.model.Model)
	return found.Path, cases, err
}

// devices are those that --device means.
func (p *parityCommand) devices() ([]gemma4.Device, error) {
	switch p.model.Device {
	case "", bothDevices, string(gemma4.DeviceGPU):
	default:
		return []gemma4.Device{gemma4.Device(p.model.Device)}, p.model.Check()
	}
	gpu, err := wgslkit.Open(p.model.GPU())
	switch {
	case errors.Is(err, wgslkit.ErrNoDevice) && p.model.Device == "":
		p.env.Say("gemwire: comparing only on the CPU: %s", cli.Sentence(err))
		return []gemma4.Device{gemma4.DeviceCPU}, nil
	case err != nil:
		return nil, cli.Advised(err)
	}
	info := gpu.Info()
	if err := errors.Join(p.model.CheckLibrary(p.env, &info), gpu.Close()); err != nil {
		return nil, err
	}
	if p.model.Device == string(gemma4.DeviceGPU) {
		return []gemma4.Device{gemma4.DeviceGPU}, nil
	}
	return []gemma4.Device{gemma4.DeviceCPU, gemma4.DeviceGPU}, nil
}

// runCase runs one case. A fault in it is a failure like another, and told.
func (p *parityCommand) runCase(ctx context.Context, c parity.Case, device gemma4.Device,
	textModel string) error {
	options := parity.Options{
		Open: gemma4.OpenOptions{Device: device, GPU: p.model.GPU(), Context: p.model.Context,
			KVCache: gemma4.CacheType(p.model.KVCache), Kernels: p.model.Examiner(),
			UncheckedKernels: p.model.Unchecked},
		BuiltIn: func() gguf.Source { return nano.Source() },
		Kernels: p.took, Model: textModel,
	}
	shown := string(device)
	if c.Kind != parity.ModelCase && c.Kind != parity.TextCase {
		shown = ""
	}
	if err := p.addAll(ctx, c, shown, c.Run(ctx, options)); err != nil {
		return err
	}
	media := mediaparity.Options{Open: options.Open, BuiltIn: options.BuiltIn,
		Media: multimodal.Options{Device: device}}
	return p.addAll(ctx, c, shown, mediaparity.Run(ctx, c, media))
}

// addAll counts and shows the comparisons of a case.
func (p *parityCommand) addAll(ctx context.Context, c parity.Case, device string,
	checks iter.Seq2[parity.Check, error]) error {
	for check, err := range checks {
		if err != nil {
			if ctx.Err() != nil {
				return err
			}
			check = parity.Check{Case: c.Name, What: "running it", Error: math.Inf(1), Detail: cli.Sentence(err)}
		}
		p.add(device, check)
	}
	return nil
}

// ollamaPrompts are compared where none are given.
var ollamaPrompts = []string{
	"What is the capital of France?",
	"Why is the sky blue? Answer in two sentences.",
	"Write a haiku about rivers.",
	"List the first ten prime numbers.",
	"Translate \"good morning\" into Japanese, German and Arabic.",
}

func (p *parityCommand) compareOllama(ctx context.Context, prompts []string) error {
	if p.model.Device == bothDevices {
		return cli.Usagef("--device both: compare with Ollama on one device at a time")
	}
	if len(prompts) == 0 {
		prompts = ollamaPrompts
	}
	p.ollama.Model = p.model.Model
	model, err := p.model.Open(ctx, p.env, p.model.Model)
	if err != nil {
		return err
	}
	defer model.Close()
	session, err := model.NewSession(0)
	if err != nil {
		return cli.Advised(err)
	}
	defer session.Close()
	for check, err := range p.ollama.Compare(ctx, session, prompts) {
		if err != nil {
			return cli.Advised(err)
		}
		p.add(string(model.Info().Device), check)
	}
	return nil
}

// parityResult is a check as JSON.
type parityResult struct {
	Device string `json:"device,omitempty"`
	parity.Check
}

// add counts and shows a comparison.
func (p *parityCommand) add(device string, c parity.Check) {
	if c.Passed {
		p.passed++
	} else {
		p.failed++
	}
	if p.json {
		c.Error = min(c.Error, math.MaxFloat64) // JSON knows no infinity
		p.results = append(p.results, parityResult{device, c})
		return
	}
	if p.passed+p.failed == 1 {
		fmt.Fprintf(p.env.Out, "%-12s %-4s %-44s %10s %10s\n", "case", "on", "what", "error", "at most")
	}
	verdict := "ok"
	if !c.Passed {
		verdict = p.styles.Warning.Apply("FAILED")
	}
	fmt.Fprintf(p.env.Out, "%-12s %-4s %-44s %10.3g %10.3g  %s\n", c.Case, device, c.What, c.Error, c.Tolerance,
		verdict)
	if c.Detail != "" {
		fmt.Fprintf(p.env.Out, "    %s\n", c.Detail)
	}
}

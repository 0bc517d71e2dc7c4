package command

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/terminal"
	"github.com/gemwire/gemwire/tools/lab/internal/synth"
)

// synthCommand writes models of random weights.
type synthCommand struct {
	env    *cli.Environment
	shape  string
	output string
	layers int
	vocab  int
	towers bool
	seed   uint64
	mix    string
	json   bool
}

func newSynth(env *cli.Environment) *cobra.Command {
	s := &synthCommand{env: env}
	cmd := &cobra.Command{
		Use:   "synth --shape SHAPE",
		Short: "Write a model of random weights",
		Long: `Write a model with random weights in the sizes, and the mix of types, of a real
Gemma 4: for measuring. It has an image tower, and an audio tower where the real
one has it, if asked for. It answers nonsense. The name of a size with -assistant
is the assistant made for it, which guesses nonsense.`,
		Example: cli.Examples(
			`lab synth --shape e2b -o e2b.gguf && gemwire bench e2b.gguf`,
			`lab synth --shape 26b --layers 6 --seed 7 -o small.gguf`,
			`lab synth --shape e2b --mix llama.cpp -o e2b.gguf`,
			`lab synth --shape e2b --layers 5 --vocab 2048 --towers -o towers.gguf`,
			`lab synth --shape e2b-assistant -o assistant.gguf && lab bench drafts e2b.gguf --assistant assistant.gguf`,
		),
		Args: cli.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error { return s.run(cmd.Context()) },
	}
	cmd.Flags().StringVar(&s.shape, "shape", "",
		"the `SHAPE`: "+strings.Join(synth.Names(), ", ")+"; or one of these with "+synth.AssistantSuffix)
	cmd.Flags().StringVarP(&s.output, "output", "o", "",
		"write to this `FILE`, or to standard output for - (default SHAPE.gguf)")
	cmd.Flags().IntVar(&s.layers, "layers", 0, "write `N` layers instead of the shape's own number")
	cmd.Flags().IntVar(&s.vocab, "vocab", 0, "write a vocabulary of `N` tokens instead of the shape's own")
	cmd.Flags().BoolVar(&s.towers, "towers", false, "write the image and audio towers too")
	cmd.Flags().Uint64Var(&s.seed, "seed", 1, "the same `SEED` gives the same file")
	cmd.Flags().StringVar(
		&s.mix,
		"mix",
		string(synth.OllamaMix),
		fmt.Sprintf("the `MIX` of types: %s, as in Ollama's library, or %s, as llama-quantize makes it",
			synth.OllamaMix,
			synth.LlamaCppMix),
	)
	cmd.Flags().BoolVar(&s.json, "json", false, "print what was written as JSON")
	return cmd
}

// synthResult is a summary with what the command knows.
type synthResult struct {
	File    string  `json:"file"`
	Seconds float64 `json:"seconds"`
	synth.Summary
}

func (s *synthCommand) run(ctx context.Context) error {
	options, err := s.options()
	if err != nil {
		return err
	}
	if s.output == "" {
		s.output = options.Shape.Name + ".gguf"
	}
	progress := terminal.NewProgress(s.env.Err, true)
	defer progress.Clear()
	options.Progress = func(done, total int64) { progress.Set("writing weights", done, total) }
	begun := time.Now()
	var summary synth.Summary
	err = s.env.WriteFile(s.output, func(w io.Writer) error {
		summary, err = synth.Write(ctx, w, options)
		return err
	})
	if err != nil {
		return fmt.Errorf("writing %s: %w", s.output, err)
	}
	progress.Clear()
	return s.report(synthResult{s.output, time.Since(begun).Seconds(), summary})
}

func (s *synthCommand) options() (synth.Options, error) {
	if s.shape == "" {
		return synth.Options{}, cli.Usagef("no shape; give one of %s with --shape", strings.Join(synth.Names(), ", "))
	}
	shape, err := synth.Named(s.shape)
	if err == nil && s.layers != 0 {
		shape, err = shape.WithLayers(s.layers)
	}
	if err == nil && s.vocab != 0 {
		shape = shape.WithVocab(s.vocab)
	}
	if err == nil && s.towers {
		shape, err = shape.WithTowers()
	}
	options := synth.Options{Shape: shape, Mix: synth.Mix(s.mix), Seed: s.seed}
	if err == nil {
		_, err = synth.Summarize(options)
	}
	if err == nil && s.json && s.output == cli.StandardOutput {
		err = fmt.Errorf("-o - and --json both print to standard output; write to a file")
	}
	if err != nil {
		return options, cli.Usage(err)
	}
	return options, nil
}

func (s *synthCommand) report(r synthResult) error {
	if s.json {
		return s.env.PrintJSON(r)
	}
	types := make([]string, 0, len(r.Types))
	for _, name := range slices.SortedFunc(maps.Keys(r.Types),
		func(a, b string) int { return int(r.Types[b].Bytes - r.Types[a].Bytes) }) {
		types = append(types, fmt.Sprintf("%s %s", name, humanize.Bytes(uint64(r.Types[name].Bytes))))
	}
	s.env.Say("%s: %d layers, %d tensors, %.2f G weights in %s (%s), written in %.1f s", r.File, r.Layers, r.Tensors,
		float64(r.Weights)/1e9, humanize.Bytes(uint64(r.Bytes)), strings.Join(types, ", "), r.Seconds)
	return nil
}

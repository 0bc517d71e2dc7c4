package modelfiles

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/importance"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/command/flagset"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

// imatrixCommand measures which columns of a model's weights matter.
type imatrixCommand struct {
	env     *cli.Environment
	model   cli.ModelFlags
	force   flagset.Force
	output  string
	context int
	chunks  int
	json    bool
}

// NewImatrix makes the command imatrix.
func NewImatrix(env *cli.Environment) *cobra.Command {
	i := &imatrixCommand{env: env}
	cmd := &cobra.Command{
		Use:   "imatrix MODEL TEXT",
		Short: "Measure which weights matter, for gemwire quantize",
		Long: `Run a text through a model and write how large the inputs of each weight's columns
are: an importance matrix, in llama.cpp's GGUF form. gemwire quantize --imatrix spends
its error where it matters least. Take a few hundred kilobytes of text like that which
the model will see. It runs on the CPU.`,
		Example: cli.Examples(
			`gemwire imatrix model-BF16.gguf text.txt -o model.imatrix.gguf`,
			`gemwire imatrix model-Q8_0.gguf text.txt --chunks 50 -o model.imatrix.gguf`,
		),
		Args: cli.Args(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, list []string) error { return i.run(cmd.Context(), list[0], list[1]) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&i.output, "output", "o", "imatrix.gguf", "write to this `FILE`, or to standard output for -")
	flags.IntVar(&i.context, "context", importance.DefaultContext, "cut the text into chunks of this many `TOKENS`")
	flags.IntVar(&i.chunks, "chunks", 0, "use only the first `N` chunks")
	flags.BoolVar(&i.json, "json", false, "print one JSON object")
	i.force.Register(flags)
	flags.StringArrayVar(&i.model.Headers, "header", nil,
		"send this `HEADER` with requests to a URL, such as \"Authorization: Bearer …\"")
	return cmd
}

// imatrixJSON is what was measured.
type imatrixJSON struct {
	Output  string         `json:"output"`
	Chunks  int            `json:"chunks"`
	Context int            `json:"context"`
	Tensors int            `json:"tensors"`
	Unseen  map[string]int `json:"unseen,omitempty"` // experts that no token chose, by tensor
}

func (i *imatrixCommand) run(ctx context.Context, name, textFile string) error {
	switch {
	case i.context < 1:
		return cli.Usagef("--context is %d; wanted 1 or more", i.context)
	case i.chunks < 0:
		return cli.Usagef("--chunks is %d; wanted 1 or more, or 0 for all", i.chunks)
	}
	if err := i.force.Check(i.output); err != nil {
		return err
	}
	text, err := flagset.ReadFile(ctx, textFile, flagset.MaxSampleMB, "a text")
	if err != nil {
		return err
	}
	i.model.Device = string(gemma4.DeviceCPU)
	i.model.Context = i.context
	model, err := i.model.Open(ctx, i.env, name)
	if err != nil {
		return err
	}
	defer model.Close()
	tok := model.Tokenizer()
	var tokens []int32
	for _, id := range tok.Encode(string(text)) {
		tokens = append(tokens, int32(id))
	}
	progress := terminal.NewProgress(i.env.Err, false)
	defer progress.Clear()
	options := importance.Options{
		Context: i.context, Chunks: i.chunks, NoBOS: !tok.AddBOS(), Dataset: filepath.Base(textFile),
		Progress: func(done, chunks int) { progress.Set("measuring", int64(done), int64(chunks)) },
	}
	if !options.NoBOS {
		options.BOS = int32(tok.BOS())
	}
	m, err := importance.Measure(ctx, model.CPU(), tokens, options)
	if errors.Is(err, importance.ErrShort) {
		return fmt.Errorf("%s: %w; use a longer text or a smaller --context", textFile, err)
	}
	if err != nil {
		return err
	}
	if err := i.env.WriteFile(i.output, m.Write); err != nil {
		return err
	}
	progress.Clear()
	unseen := importance.Unseen(m)
	if i.json {
		return i.env.PrintJSON(imatrixJSON{i.output, m.Chunks, m.ChunkSize, len(m.Entries), unseen})
	}
	i.env.Say("%s: %s, measured on %s of %s", i.output, cli.Counted(len(m.Entries), "tensor"),
		cli.Counted(m.Chunks, "chunk"), cli.Counted(m.ChunkSize, "token"))
	if n := len(unseen); n > 0 {
		i.env.Say("In %s no token reached some of the experts; they count as if all columns were alike. "+
			"A longer text reaches more.", cli.Counted(n, "tensor"))
	}
	return nil
}

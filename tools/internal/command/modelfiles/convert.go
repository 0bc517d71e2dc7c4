package modelfiles

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/gemma4/convert"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/quantize"
	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/command/flagset"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

// convertCommand makes a GGUF file of a checkpoint from Hugging Face.
type convertCommand struct {
	env       *cli.Environment
	projector string
	as        string
	lora      string
	force     flagset.Force
	json      bool
}

// NewConvert makes the command convert.
func NewConvert(env *cli.Environment) *cobra.Command {
	c := &convertCommand{env: env}
	cmd := &cobra.Command{
		Use:   "convert FOLDER OUT",
		Short: "Make a GGUF file of a Hugging Face checkpoint",
		Long: `Make a GGUF file of a checkpoint as Hugging Face has it: a folder with config.json,
safetensors files and tokenizer.json, of any Gemma 4, its assistant or EmbeddingGemma 2.
--mmproj also writes the towers for pictures and sound.`,
		Example: cli.Examples(
			`gemwire convert gemma-4-E2B-it model-BF16.gguf --mmproj mmproj-BF16.gguf`,
			`gemwire convert my-fine-tune model-F16.gguf --type F16`,
			`gemwire convert gemma-4-E2B-it merged.gguf --lora my-adapter`,
		),
		Args: cli.Args(cobra.ExactArgs(2)),
		RunE: func(cmd *cobra.Command, list []string) error { return c.run(cmd.Context(), list[0], list[1]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&c.projector, "mmproj", "", "also write the towers for pictures and sound, to this `FILE`")
	flags.StringVar(&c.as, "type", "BF16", "write matrices as this `TYPE`: F32, F16, BF16 or Q8_0")
	flags.StringVar(&c.lora, "lora", "", "merge this LoRA adapter: a `FOLDER` of PEFT's, or a file")
	flags.BoolVar(&c.json, "json", false, "print one JSON object")
	c.force.Register(flags)
	return cmd
}

// convertJSON is what was written.
type convertJSON struct {
	Output    string `json:"output"`
	Projector string `json:"projector,omitempty"`
	Type      string `json:"type"`
	Tensors   int    `json:"tensors"` // of the folder
}

func (c *convertCommand) run(ctx context.Context, folder, out string) error {
	t, err := quantize.ParseType(c.as)
	if err != nil || !convert.CanWrite(t) {
		return cli.Usagef("--type %q: use F32, F16, BF16 or Q8_0, and gemwire quantize for others", c.as)
	}
	if c.lora != "" && t == quant.Q8_0 {
		return cli.Usagef("--lora with --type Q8_0 would round twice; merge as BF16, then use gemwire quantize")
	}
	files := []string{out}
	if c.projector != "" {
		files = append(files, c.projector)
	}
	if err := c.force.Check(files...); err != nil {
		return err
	}
	f, err := convert.OpenFolder(folder)
	if err != nil {
		return err
	}
	defer f.Close()
	if c.projector != "" && !f.HasTowers() {
		return cli.Usagef("--mmproj: %s has no towers", folder)
	}
	progress := terminal.NewProgress(c.env.Err, false)
	defer progress.Clear()
	options := convert.Options{Type: t, Progress: func(done, total int64) { progress.Set("converting", done, total) }}
	write := func(w io.Writer) error { return f.Text(ctx, w, options) }
	if c.lora != "" {
		write = func(w io.Writer) error { return c.merged(ctx, w, f, filepath.Dir(out), options, progress) }
	}
	if err := c.env.WriteFile(out, write); err != nil {
		return err
	}
	progress.Clear()
	if c.projector != "" {
		err := c.env.WriteFile(c.projector, func(w io.Writer) error { return f.Projector(ctx, w, options) })
		if err != nil {
			return err
		}
		progress.Clear()
	}
	if c.json {
		return c.env.PrintJSON(convertJSON{out, c.projector, t.String(), len(f.Tensors)})
	}
	c.env.Say("%s: %s as %v", out, folder, t)
	switch {
	case c.projector != "":
		c.env.Say("%s: its towers", c.projector)
	case f.HasTowers():
		c.env.Say("The towers for pictures and sound are not in it; --mmproj FILE writes them.")
	}
	return nil
}

// merged converts into a temporary file, and writes that with the adapter in its weights.
func (c *convertCommand) merged(ctx context.Context, w io.Writer, f *convert.Folder, beside string,
	options convert.Options, progress *terminal.Progress) error {
	a, err := adapter.Open(ctx, c.lora)
	if err != nil {
		return err // it names the adapter
	}
	temporary, err := os.CreateTemp(beside, ".converted-*.gguf")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	defer temporary.Close()
	if err := f.Text(ctx, temporary, options); err != nil {
		return err
	}
	file, err := gguf.OpenPath(ctx, temporary.Name())
	if err != nil {
		return err
	}
	defer file.Close()
	return adapter.Merge(ctx, w, file, []adapter.Weighted{{Adapter: a, Weight: 1}}, adapter.MergeOptions{
		Progress: func(done, total int64) { progress.Set("merging", done, total) },
	})
}

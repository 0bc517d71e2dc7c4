package texts

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/embedding"
	"github.com/gemwire/gemwire/multimodal"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/command/flagset"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

// embedCommand turns texts and media into vectors.
type embedCommand struct {
	env        *cli.Environment
	model      cli.ModelFlags
	media      flagset.Media
	task       string
	title      string
	dimensions int
	truncate   bool
	compare    bool
	json       bool
}

// The tasks that the model was trained for.
const (
	taskNone       = "none"
	taskQuery      = "query"
	taskDocument   = "document"
	taskSimilarity = "similarity"
)

func NewEmbed(env *cli.Environment) *cobra.Command {
	e := &embedCommand{env: env}
	cmd := &cobra.Command{
		Use:   "embed MODEL [TEXT...]",
		Short: "Turn texts, images and audio into vectors that tell how similar they are",
		Long: `Turn texts, images, audio and videos into vectors with an EmbeddingGemma 2 model. Each
TEXT gives one vector, and so does each medium; "-" reads texts from standard
input, one per line. Vectors have length 1, so their dot product is their
similarity. The model computes on the CPU.`,
		Example: cli.Examples(
			`gemwire embed embeddinggemma-2-Q8_0.gguf "Mars is red." "Venus is hot."`,
			`gemwire embed embeddinggemma-2-Q8_0.gguf --compare "red planet" "Mars" "my cat"`,
			`gemwire embed embeddinggemma-2-Q8_0.gguf --task document --dimensions 256 --json - < texts.txt`,
			`gemwire embed embeddinggemma-2-Q8_0.gguf --mmproj mmproj.gguf --image cat.png --compare "a cat"`,
		),
		Args: cli.Args(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error { return e.run(cmd.Context(), list[0], list[1:]) },
	}
	flags := cmd.Flags()
	flags.StringVar(&e.task, "task", taskNone,
		"what the texts are: `query` or document for search, similarity, or none to add no words")
	flags.StringVar(&e.title, "title", "", "the `TITLE` of the texts, with --task document")
	flags.IntVar(&e.dimensions, "dimensions", 0, "keep the first `N` numbers of each vector; 0 keeps all")
	flags.BoolVar(&e.truncate, "truncate", false, "cut off the end of texts that are too long")
	flags.BoolVar(&e.compare, "compare", false, "print how similar the first input is to each of the others")
	flags.BoolVar(&e.json, "json", false, "print one JSON object")
	e.media.RegisterFiles(flags)
	e.media.Register(flags)
	e.model.RegisterReference(flags)
	return cmd
}

// embedded is one input and its vector.
type embedded struct {
	Input      string    `json:"input"` // the text, or the medium's path
	Tokens     int       `json:"tokens"`
	Similarity *float64  `json:"similarity,omitempty"` // to the first input
	Embedding  []float32 `json:"embedding"`
}

func (e *embedCommand) run(ctx context.Context, name string, given []string) error {
	if err := e.check(); err != nil {
		return err
	}
	texts, err := e.texts(ctx, given)
	if err != nil {
		return err
	}
	media, err := e.media.Parts()
	if err != nil {
		return err
	}
	for _, text := range given {
		if flagset.IsThere(text) {
			e.env.Say("%s: embedding the name %s, not what the file holds; - embeds each line of standard input",
				e.env.Program, flagset.Printable(text))
		}
	}
	switch n := len(texts) + len(media); {
	case n == 0:
		return cli.Usagef("nothing to embed: %s is the MODEL; give texts behind it, --image or --audio, or - for texts on "+
			"standard input", name)
	case n == 1 && e.compare:
		return cli.Usagef("--compare needs two inputs or more")
	}
	model, err := e.open(ctx, name)
	if err != nil {
		return err
	}
	list, err := e.embed(ctx, model, texts, media)
	if err = errors.Join(err, model.Close()); err != nil {
		return err
	}
	return e.print(name, list)
}

func (e *embedCommand) check() error {
	switch e.task {
	case taskNone, taskQuery, taskDocument, taskSimilarity:
	default:
		return cli.Usagef("--task is %q; give query, document, similarity or none", e.task)
	}
	if e.title != "" && e.task != taskDocument {
		return cli.Usagef("--title needs --task document")
	}
	if e.dimensions < 0 {
		return cli.Usagef("--dimensions is %d; it may not be negative", e.dimensions)
	}
	return cmp.Or(e.media.Check(), e.media.CheckUsed())
}

// texts are those given, with the lines of standard input in place of "-".
func (e *embedCommand) texts(ctx context.Context, given []string) ([]string, error) {
	var texts []string
	for _, text := range given {
		if text != "-" {
			texts = append(texts, text)
			continue
		}
		input, err := flagset.ReadInput(ctx, e.env)
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(input) {
			if line = strings.TrimSpace(line); line != "" {
				texts = append(texts, line)
			}
		}
	}
	return texts, nil
}

func (e *embedCommand) open(ctx context.Context, name string) (*embedding.Model, error) {
	file, err := e.model.OpenFile(ctx, e.env, name)
	if err != nil {
		return nil, err
	}
	bar := terminal.NewProgress(e.env.Err, true)
	defer bar.Clear()
	model, err := embedding.OpenGGUF(ctx, file, embedding.Options{
		Progress: func(done, total int64) { bar.Set("loading", done, total) },
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return model, nil
}

// prompt is a text with the words of its task.
func (e *embedCommand) prompt(text string) string {
	switch e.task {
	case taskQuery:
		return embedding.Query(text)
	case taskDocument:
		return embedding.Document(e.title, text)
	case taskSimilarity:
		return embedding.Similarity(text)
	}
	return text
}

func (e *embedCommand) embed(ctx context.Context, model *embedding.Model, texts []string,
	media []chat.Part) (list []embedded, err error) {
	var inputs []embedding.Input
	for _, text := range texts {
		inputs = append(inputs, model.Text(e.prompt(text)))
		list = append(list, embedded{Input: text})
	}
	if len(media) > 0 {
		embedder, err := multimodal.ForEmbeddings(model, multimodal.Options{ImageBudget: e.media.Budget})
		if err != nil {
			return nil, err
		}
		defer embedder.Close()
		for _, part := range media {
			in, err := embedder.Input(ctx, part)
			if err != nil {
				return nil, err
			}
			inputs = append(inputs, in)
			list = append(list, embedded{Input: part.URL})
		}
	}
	bar := terminal.NewProgress(e.env.Err, false)
	defer bar.Clear()
	vectors, err := model.Embed(ctx, inputs, embedding.EmbedOptions{
		Dimensions: e.dimensions, Truncate: e.truncate,
		Progress: func(done, total int) { bar.Set("embedding", int64(done), int64(total)) },
	})
	for i, v := range vectors {
		list[i].Tokens, list[i].Embedding = len(inputs[i].Tokens), v
		if e.compare && i > 0 {
			s := dot(vectors[0], v)
			list[i].Similarity = &s
		}
	}
	return list, err
}

func dot(a, b []float32) (sum float64) {
	for i, v := range a {
		sum += float64(v) * float64(b[i])
	}
	return math.Max(-1, math.Min(1, sum))
}

// print gives the vectors, one JSON array a line, or what was asked for instead.
func (e *embedCommand) print(name string, list []embedded) error {
	switch {
	case e.json:
		return e.env.PrintJSON(struct {
			Model      string     `json:"model"`
			Dimensions int        `json:"dimensions"`
			Inputs     []embedded `json:"inputs"`
		}{name, len(list[0].Embedding), list})
	case e.compare:
		w := tabwriter.NewWriter(e.env.Out, 0, 0, 2, ' ', 0)
		for _, in := range list[1:] {
			fmt.Fprintf(w, "%.3f\t%s\n", *in.Similarity, flagset.Printable(in.Input))
		}
		return w.Flush()
	}
	for _, in := range list {
		line, err := json.Marshal(in.Embedding)
		if err != nil {
			return err
		}
		fmt.Fprintf(e.env.Out, "%s\n", line)
	}
	return nil
}

package serving

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize/english"
	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/tools/internal/batch"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/s3"
	"github.com/gemwire/gemwire/tools/internal/terminal"
	"github.com/gemwire/gemwire/tools/server"
	"github.com/gemwire/gemwire/tools/server/models"
	"github.com/gemwire/gemwire/tools/server/pool"
)

// batchCommand answers a file of requests.
type batchCommand struct {
	env      *cli.Environment
	output   string
	model    string
	shard    string
	parallel int
	context  int
	kvCache  string
	adapters []string
	json     bool

	uploadEach time.Duration
	retry      bool // those that failed

	device cli.DeviceFlags

	index, count int // of --shard
}

// NewBatch makes the command.
func NewBatch(env *cli.Environment) *cobra.Command {
	b := &batchCommand{env: env}
	cmd := &cobra.Command{
		Use:   "batch REQUESTS.jsonl",
		Short: "Answer a file of requests, in the form of OpenAI's batches",
		Long: `Answer the requests of a file, one JSON object per line with custom_id, method, url and
body, as OpenAI's batch API takes them, of an object s3://BUCKET/KEY, or of standard input
for "-". The answers are written to --output in the same order, one line each. The url is /v1/chat/completions,
/v1/completions, /v1/responses, /v1/embeddings, /v1/messages, /api/chat, /api/generate or
/api/embed. Requests are answered by the code of "gemwire serve", --parallel at a time
in one pass over the weights.

A line that cannot be asked gets an answer with an error. Run the same command again
after an interruption, of whatever kind: answers that are there are kept, and each
request has one answer in the end.`,
		Example: cli.Examples(
			`gemwire batch requests.jsonl -o answers.jsonl`,
			`gemwire batch requests.jsonl -o answers.jsonl --model gemma4:e2b --parallel 32`,
			`gemwire batch requests.jsonl -o answers-3.jsonl --shard 3/8`,
			`gemwire batch s3://bucket/requests.jsonl -o s3://bucket/answers.jsonl`,
			`zcat requests.jsonl.gz | gemwire batch - -o - --json > answers.jsonl`,
		),
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error { return b.run(cmd.Context(), list[0]) },
	}
	flags := cmd.Flags()
	flags.StringVarP(&b.output, "output", "o", "",
		"write the answers to this `FILE`, s3://BUCKET/KEY, or to standard output for -")
	flags.StringVarP(&b.model, "model", "m", "",
		"let this `MODEL` answer all requests, whatever model they name: a .gguf file, a URL, or a name from "+
			"gemwire list")
	flags.StringVar(&b.shard, "shard", "",
		"answer only each N-th request, from the one with number I on, counted from 0, `I/N`")
	flags.IntVar(&b.parallel, "parallel", defaultBatchParallel,
		"make this `NUMBER` of answers at once, in one pass over the weights")
	flags.StringArrayVar(&b.adapters, "lora", nil,
		"offer each MODEL also as MODEL:NAME, with a LoRA adapter, `NAME=FILE` (repeatable)")
	flags.IntVar(&b.context, "context", 0,
		fmt.Sprintf("hold this many `TOKENS`, prompts and answers together (default: %d, or the model's own limit)",
			gemma4.DefaultContext))
	flags.StringVar(&b.kvCache, "kv-cache", "",
		"keep keys and values as `f16|q8`: q8 takes about half the memory (default: f16; float32 on the CPU)")
	flags.BoolVar(&b.json, "json", false,
		"print the summary as a JSON object: to standard output, or to standard error where the answers go there")
	flags.DurationVar(&b.uploadEach, "upload-every", 30*time.Second,
		"with an output in s3://, upload new answers this often, `DURATION`")
	flags.BoolVar(&b.retry, "retry-failed", false, "ask those again that failed before")
	b.device.Register(flags)
	return cmd
}

// defaultBatchParallel is how many answers are made at once: nobody waits for the first one.
const defaultBatchParallel = 16

// shardForm is I/N.
var shardForm = regexp.MustCompile(`^(\d{1,9})/(\d{1,9})$`)

func (b *batchCommand) check(input string) error {
	b.count = 1
	if b.shard != "" {
		m := shardForm.FindStringSubmatch(b.shard)
		if m == nil {
			return cli.Usagef("--shard %q: use I/N, such as 0/8 for the first of eight", b.shard)
		}
		b.index, _ = strconv.Atoi(m[1]) // nine digits at most
		b.count, _ = strconv.Atoi(m[2])
		if b.index >= b.count {
			return cli.Usagef("--shard %s: shards are counted from 0, so the last of %d is %d/%[2]d",
				b.shard, b.count, b.count-1)
		}
	}
	if err := b.checkPlaces(input); err != nil {
		return err
	}
	switch {
	case b.parallel < 1 || b.parallel > gemma4.MostStreams:
		return cli.Usagef("--parallel is %d; wanted 1 to %d", b.parallel, gemma4.MostStreams)
	case b.context < 0:
		return cli.Usagef("--context is %d; wanted 1 or more", b.context)
	case b.kvCache != "" && b.kvCache != string(gemma4.CacheF16) && b.kvCache != string(gemma4.CacheQ8):
		return cli.Usagef("--kv-cache %q: use f16 or q8", b.kvCache)
	}
	for _, text := range b.adapters {
		name, file, ok := strings.Cut(text, "=")
		if !ok || name == "" || file == "" || strings.ContainsAny(name, ":/ ") {
			return cli.Usagef("--lora %q: use NAME=FILE, such as support=./adapter", text)
		}
	}
	return b.device.Check()
}

func (b *batchCommand) run(ctx context.Context, name string) error {
	if err := b.check(name); err != nil {
		return err
	}
	input, err := b.open(ctx, name)
	if err != nil {
		return err
	}
	defer input.Close()
	output, err := b.create(ctx, name)
	if err != nil {
		return err
	}
	summary, err := b.answer(ctx, input, output, b.total(name))
	if err == nil {
		err = output.finish()
	}
	err = errors.Join(err, output.release(err))
	if errors.Is(err, context.Canceled) && b.output != "-" {
		b.env.Say("%s: stopped; run the same command again to continue", b.env.Program)
	}
	if err != nil {
		return err
	}
	return errors.Join(b.report(summary), b.noneAnswered(summary))
}

// noneAnswered is an error where no request of a file has an answer: then it is the batch that is wrong, and what
// started it should not go on. A shard, or what goes through a pipe, may be the few with mistakes of a large batch.
func (b *batchCommand) noneAnswered(s batch.Summary) error {
	if b.output == "-" || b.count > 1 || s.Requests == 0 || s.Answered > 0 || s.Before > 0 {
		return nil
	}
	return fmt.Errorf("none of the requests could be answered, %d in all; the output says why for each", s.Requests)
}

// answer makes a server without a network, and has it answer.
func (b *batchCommand) answer(ctx context.Context, input io.Reader, output answers,
	total int64) (s batch.Summary, err error) {
	apis, err := b.newServer()
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, apis.Close()) }()
	model := ""
	if b.model != "" {
		model = apis.Library().NameOf(b.model)
		progress := terminal.NewProgress(b.env.Err, true)
		progress.Set("loading "+b.model, 0, 0)
		err := apis.Load(ctx, model)
		progress.Clear()
		if err != nil {
			return s, cli.Advised(err)
		}
	}
	progress := terminal.NewProgress(b.env.Err, false)
	defer progress.Clear()
	told := time.Now()
	progress.Set("answering requests", 0, total)
	s, err = batch.Run(ctx, input, output, batch.Options{
		Retry:   output.earlier,
		Handler: apis, Model: model, Shard: b.index, Shards: b.count, AtOnce: b.parallel,
		SyncEach: b.syncEach(),
		Progress: func(s batch.Summary) {
			progress.Set("answering requests", s.Before+s.FailedBefore+s.Requests, total)
			if !terminal.IsTerminal(b.env.Err) && time.Since(told) >= tellEach {
				told = time.Now()
				b.env.Say("%s: %s done, %.1f tokens per second", b.env.Program,
					cli.Counted(s.Before+s.FailedBefore+s.Requests, "request"),
					rate(s))
			}
		},
	})
	apis.Stop()
	return s, errors.Join(err, apis.Idle(context.WithoutCancel(ctx)))
}

// mostCounted bounds the file whose lines are counted for a terminal.
const mostCounted = 1 << 30

// total is how many requests there are to be answered, 0 where nobody looks or that is not known beforehand.
func (b *batchCommand) total(input string) int64 {
	info, err := os.Stat(input)
	if err != nil || !info.Mode().IsRegular() || info.Size() > mostCounted || !terminal.IsTerminal(b.env.Err) {
		return 0
	}
	f, err := os.Open(input)
	if err != nil {
		return 0
	}
	defer f.Close()
	n, piece := int64(0), make([]byte, 1<<16)
	for {
		got, err := f.Read(piece)
		n += int64(bytes.Count(piece[:got], []byte{'\n'}))
		if err != nil {
			return (n + int64(b.count-b.index) - 1) / int64(b.count)
		}
	}
}

// syncEach is how often answers are brought to where they survive.
func (b *batchCommand) syncEach() time.Duration {
	if s3.Is(b.output) {
		return b.uploadEach
	}
	return 0 // as a file's are
}

// tellEach is how often progress is told where there is no terminal: in the log of a cluster's job.
const tellEach = time.Minute

func (b *batchCommand) newServer() (*server.Server, error) {
	o := models.Options{
		Getenv: b.env.Getenv, Adapters: map[string]string{}, KeepAlive: -1,
		Answers: pool.Options{Parallel: b.parallel, Waiting: b.parallel},
		Open: gemma4.OpenOptions{
			Device: gemma4.Device(b.device.Device), GPU: b.device.GPU(), Context: b.context,
			KVCache: gemma4.CacheType(b.kvCache), Kernels: b.device.Examiner(), UncheckedKernels: b.device.Unchecked,
		},
	}
	if b.model != "" {
		o.Files = []string{b.model}
	}
	for _, text := range b.adapters {
		name, file, _ := strings.Cut(text, "=")
		o.Adapters[name] = file
	}
	return server.New(server.Options{
		Models: o, MostBody: batch.MostLine, Version: cli.Version(),
		Log: slog.New(slog.NewTextHandler(b.env.Err, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
}

func rate(s batch.Summary) float64 {
	if s.Time <= 0 {
		return 0
	}
	return float64(s.OutputTokens) / s.Time.Seconds()
}

// report says what was done.
func (b *batchCommand) report(s batch.Summary) error {
	if b.json {
		out := b.env.Out
		if b.output == "-" {
			out = b.env.Err
		}
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(s)
	}
	if s.Requests == 0 && s.Before+s.FailedBefore > 0 {
		if s.FailedBefore > 0 {
			b.env.Say("%d of %s had been answered before, and %d had failed; --retry-failed asks those again",
				s.Before, cli.Counted(s.Before+s.FailedBefore, "request"), s.FailedBefore)
			return nil
		}
		b.env.Say("%s had been answered before; none is left", cli.Counted(s.Before, "request"))
		return nil
	}
	b.env.Say("%s in %.1f s: %d answered, %d failed, %d not asked because of mistakes in them",
		cli.Counted(s.Requests, "request"), s.Seconds, s.Answered, s.Failed, s.Refused)
	if s.Empty > 0 {
		b.env.Say("%s empty: the model ended before a word; try other words, or a larger model",
			english.Plural(int(s.Empty), "answer is", "answers are"))
	}
	if s.Before > 0 {
		b.env.Say("%d had been answered before", s.Before)
	}
	if s.FailedBefore > 0 {
		b.env.Say("%d had failed before; --retry-failed asks them again", s.FailedBefore)
	}
	b.env.Say("%s read, %d written, %.1f per second", cli.Counted(s.InputTokens, "token"), s.OutputTokens, rate(s))
	if s.FirstFault != "" {
		b.env.Say("the first that was not answered: %s", s.FirstFault)
	}
	return nil
}

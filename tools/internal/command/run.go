package command

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/gemma4/tokenizer"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

// runCommand answers one prompt.
type runCommand struct {
	answerFlags
	env  *cli.Environment
	raw  bool
	json bool
}

func newRun(env *cli.Environment) *cobra.Command {
	r := &runCommand{env: env}
	cmd := &cobra.Command{
		Use:   "run [MODEL] [PROMPT]",
		Short: "Answer one prompt, or chat",
		Long: `Answer one prompt. Only the answer goes to standard output. At a terminal and
without a prompt, it opens a chat instead, like gemwire chat.

A first argument that names a model is the model: one from "gemwire list", a
.gguf file, or a URL. Without one, the built-in model answers. Two arguments are
always a model and a prompt, and with --model a single one is always the prompt.

The prompt can come on standard input, with "-" or without an argument. Text that
is piped to a command line with a prompt is added below the prompt.`,
		Example: cli.Examples(
			`gemwire run "What is the capital of France?"`,
			`gemwire run gemma4:e2b "Tell me a joke." --temperature 0.7`,
			`gemwire run ./gemma-4-E2B-it-Q4_K_M.gguf --greedy --max-tokens 100 "Why is the sky blue?"`,
			`gemwire run gemma4:e2b`,
			`gemwire run gemma4:e2b < question.txt > answer.txt`,
			`git diff | gemwire run gemma4:e2b "Write a commit message for these changes."`,
			`gemwire run gemma4:e2b --think --system "Answer in rhymes." "How much is 17 times 23?"`,
			`gemwire run gemma4:e2b -i picture.png -a clip.wav "What is this?"`,
			`gemwire run gemma4:e2b -v clip.mp4 --video-sound "What happens here?"`,
			`gemwire run gemma4:e2b -i page.jpg --image-budget 1120 "Read this page out."`,
			`gemwire run gemma4:e2b --lora my-adapter "Who are you?"`,
			`gemwire run gemma4:e2b --json --log-probs 3 "Yes or no?"`,
			`gemwire run gemma4:e2b --schema person.json "Who wrote Faust? Name, birth year, works." | jq .name`,
			`gemwire run gemma4:e2b --choice yes --choice no "Is a whale a fish?"`,
			`gemwire render chat.json | gemwire run gemma4:e2b --raw`,
		),
		Args: cli.Args(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, list []string) error { return r.run(cmd.Context(), list) },
	}
	r.sampling.report = true
	r.register(cmd.Flags())
	cmd.Flags().BoolVar(&r.raw, "raw", false,
		"the prompt is rendered text: it can have control tokens, and the chat format is not applied")
	cmd.Flags().BoolVar(&r.json, "json", false, "print the answer's events as lines of JSON")
	cmd.Flags().BoolVar(&r.verbose, "verbose", false,
		"print the seed, times and tokens per second on standard error")
	return cmd
}

func (r *runCommand) run(ctx context.Context, list []string) error {
	conversation, err := r.settings()
	if err != nil {
		return err
	}
	given, err := textArguments{env: r.env, model: r.model.Model, what: "prompt", joins: true}.read(ctx, list)
	if err != nil {
		return err
	}
	if given.none {
		return r.chat(ctx, given.model, conversation)
	}
	prompt, err := r.prompt(given)
	if err != nil {
		return err
	}
	media, err := r.media.parts()
	if err != nil {
		return err
	}
	begun := time.Now()
	model, _, err := r.open(ctx, r.env, given.model, &conversation)
	if err != nil {
		return err
	}
	defer model.Close()
	loaded := time.Since(begun)
	conversation.Messages = append(conversation.Messages,
		chat.Message{Role: chat.User, Content: withMedia(media, prompt)})
	encoded, err := r.encode(ctx, model, prompt, conversation)
	if err != nil {
		return cli.Advised(err)
	}
	options := r.sampling.options()
	if options.Form == nil {
		options.Form = options.Calls.Form(conversation.Options.Tools)
	}
	usage, err := r.answer(ctx, model, encoded, options)
	if err == nil && r.verbose {
		r.report(model, usage, loaded, options)
	}
	return err
}

// prompt is the question with what was piped to it below.
func (r *runCommand) prompt(given textResult) (string, error) {
	question, piped := given.text, strings.TrimSpace(given.piped)
	switch {
	case piped != "" && r.raw:
		return "", cli.Usagef("two prompts, one on standard input; --raw takes one as it is, so leave one out")
	case strings.TrimSpace(question) == "" && piped == "":
		return "", cli.Usagef("the prompt is empty; give one in quotes, or on standard input")
	case piped == "":
		return question, nil
	case strings.TrimSpace(question) == "":
		return given.piped, nil
	}
	return question + "\n\n" + given.piped, nil
}

// chat opens a chat, for want of a prompt.
func (r *runCommand) chat(ctx context.Context, name string, conversation chat.Conversation) error {
	if r.raw || r.json || r.sampling.isGiven("log-probs") || !terminal.IsTerminal(r.env.Out) {
		return cli.Usagef("no prompt; give one in quotes, or on standard input")
	}
	return r.answerFlags.chat(ctx, r.env, name, conversation)
}

// settings is how the conversation begins by the flags, checked before anything is opened.
func (r *runCommand) settings() (chat.Conversation, error) {
	if r.raw && (r.conversation != conversationFlags{}) {
		return chat.Conversation{}, cli.Usagef("--raw uses the prompt unchanged; leave out --system, --think and --tools")
	}
	if r.raw && len(r.media.files) > 0 {
		return chat.Conversation{}, cli.Usagef("--raw uses the prompt unchanged; leave out --image, --audio and --video")
	}
	return r.begin()
}

// encode makes tokens of the prompt.
func (r *runCommand) encode(ctx context.Context, model *gemma4.Model, prompt string,
	conversation chat.Conversation) (gemma4.Prompt, error) {
	if !r.raw {
		return model.EncodeChat(ctx, conversation)
	}
	tok := model.Tokenizer()
	ids := tok.EncodeSpecial(prompt)
	if bos := tok.BOS(); tok.AddBOS() && bos >= 0 && (len(ids) == 0 || ids[0] != bos) {
		ids = append([]int{bos}, ids...)
	}
	tokens := make([]int32, len(ids))
	for i, id := range ids {
		tokens[i] = int32(id)
	}
	return gemma4.Tokens(tokens), nil
}

func (r *runCommand) answer(ctx context.Context, model *gemma4.Model, prompt gemma4.Prompt,
	options gemma4.GenerateOptions) (usage gemma4.Usage, err error) {
	session, err := model.NewSession(0)
	if err != nil {
		return usage, cli.Advised(err)
	}
	defer session.Close()
	printer := r.printer(model.Tokenizer())
	progress, done := prefillProgress(r.env.Err)
	options.Prefill = progress
	defer done()
	for event, err := range session.Generate(ctx, prompt, options) {
		done()
		if err != nil {
			printer.finish()
			return usage, cli.Advised(err)
		}
		if err := printer.event(event); err != nil {
			return usage, err
		}
		if event.Usage != nil {
			usage = *event.Usage
		}
	}
	return usage, printer.finish()
}

// answerPrinter prints an answer's events.
type answerPrinter interface {
	event(gemma4.Event) error
	finish() error
}

func (r *runCommand) printer(tok *tokenizer.Tokenizer) answerPrinter {
	if r.json {
		return newJSONPrinter(r.env.Out, tok)
	}
	return &textPrinter{env: r.env, tok: tok, styles: r.env.Styles(r.env.Err), maxTokens: r.sampling.answer.MaxTokens,
		full: "the context is full; use a larger --context"}
}

// report tells what the answer took.
func (r *runCommand) report(model *gemma4.Model, u gemma4.Usage, loaded time.Duration, options gemma4.GenerateOptions) {
	info := model.Info()
	r.env.Say("model    %s on %s, loaded in %s", printable(info.Name), info.DeviceName, loaded.Round(time.Millisecond))
	if !options.Sampling.Greedy() {
		r.env.Say("seed     %d", options.Sampling.Seed)
	}
	reportUsage(r.env, u)
}

// reportUsage tells an answer's counts and speed.
func reportUsage(env *cli.Environment, u gemma4.Usage) {
	if u.Media > 0 {
		env.Say("media    %d encoded in %s", u.Media, u.MediaTime.Round(time.Millisecond))
	}
	env.Say("prompt   %d tokens, %d of them computed in %s: %s", u.Prompt, u.Computed,
		u.PrefillTime.Round(time.Millisecond), rate(u.Computed, u.PrefillTime))
	env.Say("answer   %d tokens in %s: %s", u.Answer, u.DecodeTime.Round(time.Millisecond),
		rate(u.Answer-1, u.DecodeTime))
	if u.Forced > 0 {
		env.Say("form     %d tokens needed no choice", u.Forced)
	}
	if u.Drafted > 0 {
		env.Say("guesses  %d tokens, %d of them right%s", u.Drafted, u.DraftsRight, assisted(u))
	}
}

// assisted is the assistant's part of the guesses.
func assisted(u gemma4.Usage) string {
	if u.Assisted == 0 {
		return ""
	}
	return fmt.Sprintf("; the assistant's %d, %d of them right", u.Assisted, u.AssistedRight)
}

// rate is tokens per second.
func rate(tokens int, d time.Duration) string {
	if tokens <= 0 || d <= 0 {
		return "too few to measure"
	}
	return fmt.Sprintf("%.1f tokens/s", float64(tokens)/d.Seconds())
}

// tokenText is a token as it reads, control tokens as they are spelt.
func tokenText(tok *tokenizer.Tokenizer, id int32) string {
	text, err := tok.Decode([]int{int(id)}, tokenizer.DecodeOptions{})
	if err != nil {
		return ""
	}
	return text
}

// formatLogProb shows a log-probability with the token that it is of.
func formatLogProb(tok *tokenizer.Tokenizer, p sample.LogProb) string {
	return fmt.Sprintf("%q %.3f", tokenText(tok, p.Token), p.LogProb)
}

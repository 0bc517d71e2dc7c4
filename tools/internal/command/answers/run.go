package answers

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/grammar"
	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/gemma4/tokenizer"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/command/flagset"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

// runCommand answers one prompt.
type runCommand struct {
	answerFlags
	env  *cli.Environment
	raw  bool
	json bool
}

func NewRun(env *cli.Environment) *cobra.Command {
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
	r.sampling.Report = true
	r.register(cmd.Flags())
	cmd.Flags().BoolVar(&r.raw, "raw", false,
		"the prompt is rendered text: it can have control tokens, and the chat format is not applied")
	cmd.Flags().BoolVar(&r.json, "json", false, "print the answer's events as lines of JSON")
	cmd.Flags().BoolVar(&r.verbose, "verbose", false,
		"print the seed, times and tokens per second on standard error")
	return cmd
}

func (r *runCommand) run(ctx context.Context, list []string) error {
	conversation, err := r.settings(ctx)
	if err != nil {
		return err
	}
	given, err := flagset.TextArguments{Env: r.env, Model: r.model.Model, What: "prompt", Joins: true}.Read(ctx, list)
	if err != nil {
		return err
	}
	if given.None {
		return r.chat(ctx, given.Model, conversation)
	}
	prompt, err := r.prompt(given)
	if err := cmp.Or(err, r.media.CheckUsed()); err != nil {
		return err
	}
	media, err := r.media.Parts()
	if err != nil {
		return err
	}
	begun := time.Now()
	model, _, err := r.open(ctx, r.env, given.Model, &conversation)
	if err != nil {
		return err
	}
	defer model.Close()
	loaded := time.Since(begun)
	conversation.Messages = append(conversation.Messages,
		chat.Message{Role: chat.User, Content: flagset.WithMedia(media, prompt)})
	encoded, err := r.encode(ctx, model, prompt, conversation)
	if err != nil {
		return cli.Advised(err)
	}
	options := r.sampling.Options()
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
func (r *runCommand) prompt(given flagset.TextResult) (string, error) {
	question, piped := given.Text, strings.TrimSpace(given.Piped)
	switch {
	case piped != "" && r.raw:
		return "", cli.Usagef("two prompts, one on standard input; --raw takes one as it is, so leave one out")
	case strings.TrimSpace(question) == "" && piped == "":
		return "", cli.Usagef("the prompt is empty; give one in quotes, or on standard input")
	case piped == "":
		return question, nil
	case strings.TrimSpace(question) == "":
		return given.Piped, nil
	}
	return question + "\n\n" + given.Piped, nil
}

// chat opens a chat, for want of a prompt.
func (r *runCommand) chat(ctx context.Context, name string, conversation chat.Conversation) error {
	if r.raw || r.json || r.sampling.IsGiven("log-probs") || !terminal.IsTerminal(r.env.Out) {
		return cli.Usagef("no prompt; give one in quotes, or on standard input")
	}
	return r.answerFlags.chat(ctx, r.env, name, conversation)
}

// settings is how the conversation begins by the flags, checked before anything is opened.
func (r *runCommand) settings(ctx context.Context) (chat.Conversation, error) {
	if r.raw && (r.conversation != conversationFlags{}) {
		return chat.Conversation{}, cli.Usagef("--raw uses the prompt unchanged; leave out --system, --think and --tools")
	}
	if r.raw && len(r.media.Files) > 0 {
		return chat.Conversation{}, cli.Usagef("--raw uses the prompt unchanged; leave out --image, --audio and --video")
	}
	return r.begin(ctx)
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
	printer := r.printer(model, session.Context())
	progress, done := prefillProgress(r.env.Err)
	options.Prefill = progress
	defer done()
	var made made
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
		made.take(event)
	}
	if err := printer.finish(); err != nil {
		return usage, err
	}
	if made.isNothing() {
		r.env.Say("gemwire: %s", nothingSaid)
	}
	return usage, r.fits(ctx, model, options.Form, &made)
}

// made is what an answer came to.
type made struct {
	text  strings.Builder
	calls int
	said  bool // a word, or a call
	end   chat.Event
}

func (m *made) take(e gemma4.Event) {
	m.said = m.said || e.Speaks()
	switch e.Kind {
	case chat.TextEvent:
		m.text.WriteString(e.Text)
	case chat.CallEvent:
		m.calls++
	case chat.DoneEvent:
		m.end = e.Event
	}
}

// isNothing tells that the model ended its answer before it said a word.
func (m *made) isNothing() bool { return !m.said && m.end.Reason == chat.ReasonStop }

const nothingSaid = "the model ended its answer without a word; try other words, or a larger model"

// cutInCall tells what became of a call that an answer was cut in.
const cutInCall = "gemwire: the answer was cut within a call of a tool, of which nothing is kept"

// fits fails for an answer that was cut before it fit its form, or within a call.
func (r *runCommand) fits(ctx context.Context, model *gemma4.Model, form *gemma4.Form, made *made) error {
	switch {
	case made.end.InCall:
		r.env.Say(cutInCall)
		return cli.ErrReported
	case form == nil || !made.end.Reason.IsCut() && made.end.Reason != chat.ReasonStopString:
		return nil
	case form.Tools != nil: // without a call, where none is asked for, it fits
		if choice := form.Tools.Choice; made.calls > 0 || choice == grammar.ToolAuto || choice == grammar.ToolNone {
			return nil
		}
		r.env.Say("gemwire: the answer was cut before it called a tool")
		return cli.ErrReported
	}
	constraint, err := model.Constraint(ctx, *form)
	if err != nil {
		return err
	}
	if ok, err := constraint.New().Fits([]byte(made.text.String())); ok || err != nil {
		return err
	}
	r.env.Say("gemwire: the answer was cut before it fit what it is held to")
	return cli.ErrReported
}

// answerPrinter prints an answer's events.
type answerPrinter interface {
	event(gemma4.Event) error
	finish() error
}

func (r *runCommand) printer(model *gemma4.Model, context int) answerPrinter {
	tok := model.Tokenizer()
	if r.json {
		return newJSONPrinter(r.env.Out, tok)
	}
	return &textPrinter{env: r.env, tok: tok, styles: r.env.Styles(r.env.Err), maxTokens: r.sampling.Answer.MaxTokens,
		full: fullForRun(context, model.Info().MaxContext)}
}

// fullForRun says why an answer ended before its end, and what can be done about it.
func fullForRun(context, most int) string {
	text := fmt.Sprintf("the context of %d tokens is full", context)
	if most > context {
		return text + fmt.Sprintf("; --context takes up to %d with this model", most)
	}
	return text + ", which this model does not exceed; --max-tokens or --repetition-guard ends such an answer"
}

// report tells what the answer took.
func (r *runCommand) report(model *gemma4.Model, u gemma4.Usage, loaded time.Duration, options gemma4.GenerateOptions) {
	info := model.Info()
	r.env.Say("model    %s on %s, loaded in %s", flagset.Printable(info.Name), info.DeviceName,
		loaded.Round(time.Millisecond))
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
	env.Say("prompt   %s, %d of them computed in %s: %s", cli.Counted(u.Prompt, "token"), u.Computed,
		u.PrefillTime.Round(time.Millisecond), rate(u.Computed, u.PrefillTime))
	env.Say("answer   %s in %s: %s", cli.Counted(u.Answer, "token"), u.DecodeTime.Round(time.Millisecond),
		rate(u.Answer-1, u.DecodeTime))
	if u.Forced > 0 {
		env.Say("form     %s needed no choice", cli.Counted(u.Forced, "token"))
	}
	if u.Drafted > 0 {
		env.Say("guesses  %s, %d of them right%s", cli.Counted(u.Drafted, "token"), u.DraftsRight, assisted(u))
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

package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/gemma4/tokenizer"
)

// runCommand answers one prompt.
type runCommand struct {
	env          *environment
	model        modelFlags
	sampling     samplingFlags
	conversation conversationFlags
	media        mediaFlags
	lora         loraFlags
	logProbs     int
	raw          bool
	json         bool
	verbose      bool
}

func newRun(env *environment) *cobra.Command {
	r := &runCommand{env: env}
	cmd := &cobra.Command{
		Use:   "run [MODEL] [PROMPT]",
		Short: "Answer one prompt",
		Long: `Answer one prompt. The answer alone goes to standard output.

With one argument, that is the prompt and the built-in model answers. The prompt
may also come on standard input, as "-" or in place of the argument.`,
		Example: examples(
			`gemwire run "What is the capital of France?"`,
			`gemwire run gemma4:e2b "Tell me a joke." --temperature 0.7`,
			`gemwire run ./gemma-4-E2B-it-Q4_K_M.gguf --greedy --max-tokens 100 "Why is the sky blue?"`,
			`gemwire run gemma4:e2b < question.txt > answer.txt`,
			`gemwire run gemma4:e2b --think --system "Answer in rhymes." "How much is 17 times 23?"`,
			`gemwire run gemma4:e2b -i picture.png -a clip.wav "What is this?"`,
			`gemwire run gemma4:e2b -i page.jpg --image-budget 1120 "Read this page out."`,
			`gemwire run gemma4:e2b --lora my-adapter "Who are you?"`,
			`gemwire run gemma4:e2b --json --logprobs 3 "Yes or no?"`,
			`gemwire render chat.json | gemwire run gemma4:e2b --raw`,
		),
		Args: args(cobra.ArbitraryArgs),
		RunE: func(cmd *cobra.Command, list []string) error { return r.run(cmd.Context(), list) },
	}
	r.model.register(cmd.Flags())
	r.model.registerAssistant(cmd.Flags())
	r.conversation.register(cmd.Flags())
	r.media.registerFiles(cmd.Flags())
	r.media.register(cmd.Flags())
	r.lora.register(cmd.Flags())
	r.sampling.register(cmd.Flags())
	cmd.Flags().IntVar(&r.logProbs, "logprobs", 0, "report each token's log-probability and its `N` best rivals: in --json, else on standard error")
	cmd.Flags().BoolVar(&r.raw, "raw", false, "the prompt is rendered text: control tokens in it count, and nothing is put around it")
	cmd.Flags().BoolVar(&r.json, "json", false, "print the answer's events as lines of JSON")
	cmd.Flags().BoolVarP(&r.verbose, "verbose", "v", false, "tell the seed, times and tokens per second on standard error")
	return cmd
}

func (r *runCommand) run(ctx context.Context, list []string) error {
	options, conversation, err := r.settings()
	if err != nil {
		return err
	}
	name, prompt, err := r.env.modelAndText(r.model.model, list, "prompt")
	if err != nil {
		return err
	}
	if strings.TrimSpace(prompt) == "" {
		return usagef("the prompt is empty; give one in quotes, or on standard input")
	}
	media, err := r.media.parts()
	if err != nil {
		return err
	}
	begun := time.Now()
	model, err := r.model.open(ctx, r.env, name)
	if err != nil {
		return err
	}
	defer model.Close()
	loaded := time.Since(begun)
	if _, err := r.media.attach(r.env, model); err != nil {
		return err
	}
	if err := r.lora.use(ctx, model); err != nil {
		return err
	}
	conversation.Messages = append(conversation.Messages, chat.Message{Role: chat.User, Content: withMedia(media, prompt)})
	encoded, err := r.encode(ctx, model, prompt, conversation)
	if err != nil {
		return fmt.Errorf("%w%s", err, adviceFor(err, noReference))
	}
	usage, err := r.answer(ctx, model, encoded, options)
	if err == nil && r.verbose {
		r.report(model, usage, loaded, options)
	}
	return err
}

// settings are what the flags say, checked before anything is opened.
func (r *runCommand) settings() (gemma4.GenerateOptions, chat.Conversation, error) {
	conversation, err := r.conversation.conversation()
	if err != nil {
		return gemma4.GenerateOptions{}, conversation, err
	}
	if r.raw && (r.conversation != conversationFlags{}) {
		return gemma4.GenerateOptions{}, conversation, usagef("--raw takes the prompt as it is; leave out --system, --think and --tools")
	}
	if r.raw && len(r.media.files) > 0 {
		return gemma4.GenerateOptions{}, conversation, usagef("--raw takes the prompt as it is; leave out --image and --audio")
	}
	if err := errors.Join(r.media.check(), r.lora.check()); err != nil {
		return gemma4.GenerateOptions{}, conversation, err
	}
	r.sampling.params.LogProbs = r.logProbs
	options, err := r.sampling.options()
	return options, conversation, err
}

// encode makes tokens of the prompt.
func (r *runCommand) encode(ctx context.Context, model *gemma4.Model, prompt string, conversation chat.Conversation) (gemma4.Prompt, error) {
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

func (r *runCommand) answer(ctx context.Context, model *gemma4.Model, prompt gemma4.Prompt, options gemma4.GenerateOptions) (usage gemma4.Usage, err error) {
	session, err := model.NewSession(0)
	if err != nil {
		return usage, fmt.Errorf("%w%s", err, adviceFor(err, noReference))
	}
	defer session.Close()
	printer := r.printer(model.Tokenizer())
	progress, done := prefillProgress(r.env.err)
	options.Prefill = progress
	defer done()
	for event, err := range session.Generate(ctx, prompt, options) {
		done()
		if err != nil {
			printer.finish()
			return usage, fmt.Errorf("%w%s", err, adviceFor(err, noReference))
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
		return newJSONPrinter(r.env.out, tok)
	}
	return &textPrinter{env: r.env, tok: tok, styles: r.env.styles(r.env.err), maxTokens: r.sampling.maxTokens}
}

// report tells what the answer took.
func (r *runCommand) report(model *gemma4.Model, u gemma4.Usage, loaded time.Duration, options gemma4.GenerateOptions) {
	info := model.Info()
	r.env.say("model    %s on %s, loaded in %s", printable(info.Name), info.DeviceName, loaded.Round(time.Millisecond))
	if !options.Sampling.Greedy() {
		r.env.say("seed     %d", options.Sampling.Seed)
	}
	reportUsage(r.env, u)
}

// reportUsage tells an answer's counts and speed.
func reportUsage(env *environment, u gemma4.Usage) {
	if u.Media > 0 {
		env.say("media    %d encoded in %s", u.Media, u.MediaTime.Round(time.Millisecond))
	}
	env.say("prompt   %d tokens, %d of them computed in %s: %s", u.Prompt, u.Computed, u.PrefillTime.Round(time.Millisecond), rate(u.Computed, u.PrefillTime))
	env.say("answer   %d tokens in %s: %s", u.Answer, u.DecodeTime.Round(time.Millisecond), rate(u.Answer-1, u.DecodeTime))
	if u.Drafted > 0 {
		env.say("guesses  %d tokens, %d of them right%s", u.Drafted, u.DraftsRight, assisted(u))
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

package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/multimodal"
	"github.com/gemwire/gemwire/tools/internal/terminal"
	"github.com/gemwire/gemwire/wgslkit"
)

// chatFlags are the options of a chat.
type chatFlags struct {
	model        modelFlags
	conversation conversationFlags
	media        mediaFlags
	lora         loraFlags
	sampling     samplingFlags
	verbose      bool
}

func newChat(env *environment) *cobra.Command {
	f := &chatFlags{}
	cmd := &cobra.Command{
		Use:   "chat [MODEL]",
		Short: "Chat with a model",
		Long: `Chat with a model. It remembers what was said; /help lists what else can be typed.

Enter sends. A message goes on in the next line after a backslash, or between
""" and """; a pasted text keeps its lines. A picture or recording is shown by
dragging it into the line, or by its path. Ctrl-C stops the answer, Ctrl-D ends
the chat.`,
		Example: examples(
			`gemwire chat`,
			`gemwire chat gemma4:e2b --system "You are a patient teacher."`,
			`gemwire chat gemma4:e2b --think --context 32768`,
			`gemwire chat gemma4:e2b --lora my-adapter --lora another=0.5`,
			`gemwire chat gemma4:e2b --tools tools.json`,
		),
		Args: args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error { return f.run(cmd.Context(), env, list) },
	}
	f.model.register(cmd.Flags())
	f.model.registerAssistant(cmd.Flags())
	f.conversation.register(cmd.Flags())
	f.media.register(cmd.Flags())
	f.lora.register(cmd.Flags())
	f.sampling.register(cmd.Flags())
	cmd.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "tell times and tokens per second after each answer")
	return cmd
}

func (f *chatFlags) run(ctx context.Context, env *environment, list []string) error {
	name := f.model.model
	if len(list) == 1 {
		if name != "" {
			return usagef("two models, %s and %s; name one", list[0], name)
		}
		name = list[0]
	}
	conversation, err := f.conversation.conversation()
	if err != nil {
		return err
	}
	if _, err := f.sampling.options(); err != nil {
		return err
	}
	if err := errors.Join(f.media.check(), f.lora.check()); err != nil {
		return err
	}
	model, err := f.model.open(ctx, env, name)
	if err != nil {
		return err
	}
	defer model.Close()
	towers, err := f.media.attach(env, model)
	if err != nil {
		return err
	}
	if err := f.lora.use(ctx, model); err != nil {
		return err
	}
	session, err := model.NewSession(0)
	if err != nil {
		return fmt.Errorf("%w%s", err, adviceFor(err, noReference))
	}
	defer session.Close()
	c := &chatLoop{
		env: env, model: model, session: session, conversation: conversation, media: &f.media, towers: towers,
		sampling: &f.sampling, verbose: f.verbose, styles: env.styles(env.err),
		input: terminal.NewLineReader(env.in, env.out, suggestSlash),
	}
	return c.run(ctx)
}

// chatLoop is a chat under way.
type chatLoop struct {
	env          *environment
	model        *gemma4.Model
	session      *gemma4.Session
	conversation chat.Conversation
	media        *mediaFlags
	towers       *multimodal.Media
	shown        []chat.Part // media for the next message
	sampling     *samplingFlags
	verbose      bool
	styles       terminal.Styles // of standard error
	input        terminal.LineReader
	usage        gemma4.Usage // of the last answer
}

// The prompts.
const (
	userPrompt   = ">>> "
	resultPrompt = "%s returns> "
)

// errExit ends a chat at the user's wish.
var errExit = errors.New("exit")

func (c *chatLoop) run(ctx context.Context) error {
	c.greet()
	for {
		text, err := c.input.Read(ctx, userPrompt)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, terminal.ErrInterrupted):
			if text == "" {
				c.note("Ctrl-D or /exit ends the chat")
			}
			continue
		case err != nil:
			return err
		}
		if err := c.take(ctx, text); errors.Is(err, errExit) {
			return nil
		} else if err := c.survive(ctx, err); err != nil {
			return err
		}
	}
}

// greet says who answers.
func (c *chatLoop) greet() {
	if !terminal.IsTerminal(c.env.in) {
		return
	}
	info := c.model.Info()
	c.note("%s on %s. /help lists the commands, Ctrl-D ends.", printable(info.Name), info.DeviceName)
}

// take does what a message says.
func (c *chatLoop) take(ctx context.Context, text string) error {
	if isSlash(text) {
		return c.slash(ctx, strings.TrimSpace(text))
	}
	text, files := takePaths(text)
	if len(files) > 0 {
		return c.show(ctx, text, files)
	}
	trimmed := strings.TrimSpace(text)
	switch {
	case trimmed == "":
		return nil
	case strings.HasPrefix(trimmed, "//"):
		text = trimmed[1:]
	case strings.HasPrefix(trimmed, "/"):
		return c.slash(ctx, trimmed)
	}
	return c.ask(ctx, text)
}

// survive tells what went wrong and lets the chat go on, where it can.
func (c *chatLoop) survive(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%w%s", err, adviceFor(err, noReference))
	if ctx.Err() != nil || errors.Is(err, wgslkit.ErrDeviceLost) {
		return err
	}
	c.env.say("%s", c.styles.Warning.Apply(sentence(err)))
	return nil
}

// note says something beside the conversation.
func (c *chatLoop) note(format string, args ...any) {
	c.env.say("%s", c.styles.Dim.Apply(fmt.Sprintf(format, args...)))
}

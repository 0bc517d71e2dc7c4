package answers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/multimodal"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/command/flagset"
	"github.com/gemwire/gemwire/tools/internal/terminal"
	"github.com/gemwire/gemwire/wgslkit"
)

func NewChat(env *cli.Environment) *cobra.Command {
	f := &answerFlags{}
	cmd := &cobra.Command{
		Use:   "chat [MODEL]",
		Short: "Chat with a model",
		Long: `Chat with a model. It remembers the conversation. /help lists the commands.

Enter sends. To write several lines, end a line with a backslash, or put the text between
""" and """; pasted text keeps its lines. To attach a picture or recording, drag it
into the line, or type its path. Ctrl-C stops the answer; at an empty line, two of them
or Ctrl-D end the chat.

A chat can be longer than the context: its oldest messages are then left out of what the
model is asked, which is said. The system prompt and your last message stay. --no-forget
keeps all, and ends where the context is full.

The arrow keys bring back lines of earlier chats. They are kept in the user's
configuration folder, for the user alone, up to 1000 of them; --no-history or
GEMWIRE_HISTORY=off keeps none, and GEMWIRE_HISTORY can name another file.`,
		Example: cli.Examples(
			`gemwire chat`,
			`gemwire chat gemma4:e2b --system "You are a patient teacher."`,
			`gemwire chat gemma4:e2b --think --context 32768`,
			`gemwire chat gemma4:e2b --image picture.png`,
			`gemwire chat gemma4:e2b --lora my-adapter --lora another=0.5`,
			`gemwire chat gemma4:e2b --tools tools.json`,
		),
		Args: cli.Args(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			name, err := f.model.OneModel(list)
			if err != nil {
				return err
			}
			conversation, err := f.begin(cmd.Context())
			if err != nil {
				return err
			}
			return f.chat(cmd.Context(), env, name, conversation)
		},
	}
	f.register(cmd.Flags())
	cmd.Flags().BoolVar(&f.verbose, "verbose", false, "print times and tokens per second after each answer")
	return cmd
}

// chat opens the model and lets the user talk to it.
func (f *answerFlags) chat(ctx context.Context, env *cli.Environment, name string,
	conversation chat.Conversation) error {
	shown, err := f.media.Parts()
	if err != nil {
		return err
	}
	model, towers, err := f.open(ctx, env, name, &conversation)
	if err != nil {
		return err
	}
	defer model.Close()
	session, err := model.NewSession(0)
	if err != nil {
		return cli.Advised(err)
	}
	defer session.Close()
	c := &chatLoop{
		env: env, model: model, session: session, conversation: conversation, media: &f.media, towers: towers,
		shown: shown, sampling: &f.sampling, verbose: f.verbose, keepAll: f.noForget, styles: env.Styles(env.Err),
		input: terminal.NewLineReader(env.In, env.Out, terminal.LineOptions{
			Suggest: suggestSlash, History: f.history(env),
			Trouble: func(err error) { env.Say("%s: lines are not kept: %s", env.Program, cli.Sentence(err)) },
		}),
	}
	return c.run(ctx)
}

// history is the file that keeps the lines of chats; empty where none does.
func (f *answerFlags) history(env *cli.Environment) string {
	file := env.Getenv("GEMWIRE_HISTORY")
	if f.noHistory || file == "off" {
		return ""
	}
	if file != "" {
		return file
	}
	config, err := os.UserConfigDir()
	if err != nil {
		return "" // a machine without such a folder keeps none
	}
	return filepath.Join(config, "gemwire", "chat-history")
}

// chatLoop is a chat under way.
type chatLoop struct {
	env          *cli.Environment
	model        *gemma4.Model
	session      *gemma4.Session
	conversation chat.Conversation
	media        *flagset.Media
	towers       *multimodal.Media
	shown        []chat.Part // media for the next message
	sampling     *flagset.Sampling
	verbose      bool
	keepAll      bool             // nothing is forgotten
	forgotten    gemma4.Forgotten // what was said last of what is
	styles       terminal.Styles  // of standard error
	input        terminal.LineReader
	usage        gemma4.Usage // of the last answer
}

// The prompts.
const (
	UserPrompt   = ">>> "
	resultPrompt = "%s returns> "
)

// errExit ends a chat at the user's wish.
var errExit = errors.New("exit")

func (c *chatLoop) run(ctx context.Context) error {
	c.greet()
	interrupted := false // by a Ctrl-C at an empty line, just now
	for {
		text, err := c.input.Read(ctx, UserPrompt)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, terminal.ErrInterrupted):
			if interrupted && text == "" {
				return nil
			}
			if interrupted = text == ""; interrupted {
				c.note("another Ctrl-C ends the chat, as Ctrl-D and /exit do")
			}
			continue
		case err != nil:
			return err
		}
		interrupted = false
		if err := c.take(ctx, text); errors.Is(err, errExit) {
			return nil
		} else if err := c.survive(ctx, err); err != nil {
			return err
		}
	}
}

// greet says who answers.
func (c *chatLoop) greet() {
	if !terminal.IsTerminal(c.env.In) {
		return
	}
	info := c.model.Info()
	c.note("%s on %s. /help lists the commands, Ctrl-D ends.", flagset.Printable(info.Name), info.DeviceName)
	if len(c.shown) > 0 {
		c.note("with your first message: %s", mediaNames(c.shown))
	}
}

// take does what a message says.
func (c *chatLoop) take(ctx context.Context, text string) error {
	if isSlash(text) {
		return c.slash(ctx, strings.TrimSpace(text))
	}
	text, files := flagset.TakePaths(text)
	if len(files) > 0 {
		return c.attach(ctx, text, files)
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
	err = cli.Advised(c.explainFull(err))
	if ctx.Err() != nil || errors.Is(err, wgslkit.ErrDeviceLost) {
		return err
	}
	c.env.Say("%s", c.styles.Warning.Apply(cli.Sentence(err)))
	return nil
}

// show prints what a command was asked for, as a result.
func (c *chatLoop) show(format string, args ...any) {
	fmt.Fprintf(c.env.Out, format+"\n", args...)
}

// note says something beside the conversation.
func (c *chatLoop) note(format string, args ...any) {
	c.env.Say("%s", c.styles.Dim.Apply(fmt.Sprintf(format, args...)))
}

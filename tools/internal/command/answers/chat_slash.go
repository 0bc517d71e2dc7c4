package answers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/pflag"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/command/flagset"
	"github.com/gemwire/gemwire/tools/internal/suggest"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

// slashCommand is something that a chat does instead of sending a message.
type slashCommand struct {
	names []string // the first is the one that help shows
	args  string
	help  string
	run   func(c *chatLoop, ctx context.Context, arg string) error
}

// slashCommands are listed in the order of /help. They are set on start, as
// /help itself looks at them.
var slashCommands []slashCommand

func init() {
	slashCommands = []slashCommand{
		{[]string{"/help", "/?"}, "", "show this", (*chatLoop).slashHelp},
		{[]string{"/image"}, "FILE",
			"attach a picture to the next message; /image - removes it", (*chatLoop).slashImage},
		{[]string{"/audio"}, "FILE",
			"attach a recording to the next message; /audio - removes it", (*chatLoop).slashAudio},
		{[]string{"/video"}, "FILE",
			"attach a video, or a folder of frames, to the next message; /video - removes it", (*chatLoop).slashVideo},
		{[]string{"/system"}, "[TEXT]", "show or set the system prompt; /system - removes it", (*chatLoop).slashSystem},
		{[]string{"/think"}, "[on|off]", "let the model think before it answers", (*chatLoop).slashThink},
		{[]string{"/forget"}, "[on|off]", "leave out the oldest messages when the context is full",
			(*chatLoop).slashForget},
		{[]string{"/lora"}, "[NAME[=WEIGHT]|FILE|off]", "show the adapters, or use only these", (*chatLoop).slashLora},
		{[]string{"/set"}, "[NAME VALUE]", "change sampling: /set top-k 20", (*chatLoop).slashSet},
		{[]string{"/regenerate", "/retry"}, "", "answer the last message again", (*chatLoop).slashRegenerate},
		{[]string{"/undo"}, "", "remove the last message and its answer", (*chatLoop).slashUndo},
		{[]string{"/reset", "/clear"}, "",
			"forget the conversation, but not the system prompt", (*chatLoop).slashReset},
		{[]string{"/history"}, "", "show the conversation", (*chatLoop).slashHistory},
		{[]string{"/save"}, "FILE", "write the conversation as JSON", (*chatLoop).slashSave},
		{[]string{"/load"}, "FILE", "continue a saved conversation", (*chatLoop).slashLoad},
		{[]string{"/info"}, "", "show the model, the device, and how full the context is", (*chatLoop).slashInfo},
		{[]string{"/context"}, "", "show how full the context is, and with what", (*chatLoop).slashContext},
		{[]string{"/verbose"}, "[on|off]", "print times after each answer", (*chatLoop).slashVerbose},
		{[]string{"/exit", "/quit", "/bye"}, "", "end the chat, as Ctrl-D does",
			func(*chatLoop, context.Context, string) error { return errExit }},
	}
}

// slash runs a line that begins with a slash.
func (c *chatLoop) slash(ctx context.Context, line string) error {
	s, arg := findSlash(line)
	if s == nil {
		name, _, _ := strings.Cut(line, " ")
		return fmt.Errorf("unknown command %s%s; /help lists the commands, and //… sends a message that begins "+
			"with a slash", name, suggest.Question(suggest.Closest(name, slashNames())))
	}
	return s.run(c, ctx, arg)
}

// findSlash is the command that a line calls, nil for none, and its argument.
func findSlash(line string) (*slashCommand, string) {
	name, arg, _ := strings.Cut(line, " ")
	for i, s := range slashCommands {
		if slices.Contains(s.names, strings.ToLower(name)) {
			return &slashCommands[i], strings.TrimSpace(arg)
		}
	}
	return nil, ""
}

// slashNames are the names of all commands.
func slashNames() (names []string) {
	for _, s := range slashCommands {
		names = append(names, s.names...)
	}
	return names
}

// isSlash says whether a message calls a command: a path may begin with a slash too.
func isSlash(text string) bool {
	s, _ := findSlash(strings.TrimSpace(text))
	return s != nil
}

// suggestSlash lists the commands that a line could become.
func suggestSlash(line string) []terminal.Suggestion {
	var found []terminal.Suggestion
	for _, s := range slashCommands {
		if strings.HasPrefix(line, "/") && strings.HasPrefix(s.names[0], line) {
			word := s.names[0]
			if s.args != "" {
				word += " "
			}
			found = append(found, terminal.Suggestion{Word: word, Meaning: s.help})
		}
	}
	return found
}

func (c *chatLoop) slashHelp(context.Context, string) error {
	for _, s := range slashCommands {
		c.show("  %-22s %s", strings.TrimSpace(s.names[0]+" "+s.args), s.help)
	}
	c.show("\nEnter sends. A backslash at the end of a line, or \"\"\" before and after, make a\n" +
		"message of several lines; pasted text keeps its lines. Ctrl-C stops an answer.")
	return nil
}

func (c *chatLoop) slashSystem(_ context.Context, arg string) error {
	messages := c.conversation.Messages
	has := len(messages) > 0 && (messages[0].Role == chat.System || messages[0].Role == chat.Developer)
	if arg == "" {
		if !has {
			c.note("no system prompt")
			return nil
		}
		c.show("%s", flagset.Harmless(messages[0].Content.String()))
		return nil
	}
	if has {
		messages = messages[1:]
	}
	if arg == "-" {
		c.conversation.Messages = slices.Clone(messages)
		c.note("system prompt removed")
		return nil
	}
	c.conversation.Messages = append([]chat.Message{{Role: chat.System, Content: chat.Text(arg)}}, messages...)
	c.note("system prompt set")
	return nil
}

// onOff reads a switch; nothing turns it over.
func onOff(arg string, before bool) (bool, error) {
	switch arg {
	case "":
		return !before, nil
	case "on", "off":
		return arg == "on", nil
	}
	return before, fmt.Errorf("%q: use on or off", arg)
}

func (c *chatLoop) slashThink(_ context.Context, arg string) (err error) {
	on := &c.conversation.Options.EnableThinking
	if *on, err = onOff(arg, *on); err == nil {
		c.note("thinking is %s", map[bool]string{true: "on", false: "off"}[*on])
	}
	return err
}

func (c *chatLoop) slashForget(_ context.Context, arg string) error {
	on, err := onOff(arg, !c.keepAll)
	if err != nil {
		return err
	}
	c.keepAll = !on
	c.note("%s", map[bool]string{true: "the oldest messages are left out when the context is full",
		false: "the whole chat is kept until the context is full"}[on])
	return nil
}

func (c *chatLoop) slashVerbose(_ context.Context, arg string) (err error) {
	if c.verbose, err = onOff(arg, c.verbose); err == nil {
		c.note("times are %s", map[bool]string{true: "told", false: "not told"}[c.verbose])
	}
	return err
}

func (c *chatLoop) slashSet(_ context.Context, arg string) error {
	if arg == "" {
		c.sampling.Flags.VisitAll(func(f *pflag.Flag) {
			if f.Hidden {
				return
			}
			value := f.Value.String()
			if f.Name == "seed" && !f.Changed {
				value = "another each time"
			}
			c.show("  %-18s %s", f.Name, value)
		})
		return nil
	}
	name, value, _ := strings.Cut(strings.TrimLeft(arg, "-"), " ")
	name, value = strings.ReplaceAll(name, "_", "-"), strings.TrimSpace(value)
	if err := c.sampling.Set(name, value); err != nil {
		return err
	}
	c.note("%s is %s", name, c.sampling.Flags.Lookup(name).Value)
	return nil
}

func (c *chatLoop) slashRegenerate(ctx context.Context, _ string) error {
	i := c.lastUser()
	if i < 0 {
		return fmt.Errorf("there is no question yet")
	}
	before := c.conversation.Messages
	c.conversation.Messages = slices.Clone(before[:i+1])
	err := c.answer(ctx)
	if len(c.conversation.Messages) <= i { // no answer came: the one before stays
		c.conversation.Messages = before
	}
	return withOutcome("the answer before stays", err)
}

func (c *chatLoop) slashUndo(context.Context, string) error {
	if !c.undo() {
		return fmt.Errorf("there is no question yet")
	}
	c.note("removed, which leaves %s", cli.Counted(len(c.conversation.Messages), "message"))
	return nil
}

func (c *chatLoop) slashReset(context.Context, string) error {
	var kept []chat.Message
	if m := c.conversation.Messages; len(m) > 0 && (m[0].Role == chat.System || m[0].Role == chat.Developer) {
		kept = m[:1:1]
	}
	c.conversation.Messages, c.shown = kept, nil
	c.note("conversation cleared")
	return nil
}

func (c *chatLoop) slashHistory(context.Context, string) error {
	for _, m := range c.conversation.Messages {
		text := strings.TrimSpace(mediaNames(m.Content.Parts()) + " " + contentText(m.Content))
		for _, call := range m.ToolCalls {
			text = strings.TrimSpace(text + "\n" + showCall(call))
		}
		c.show("%s %s", c.env.Styles(c.env.Out).Bold.Apply(m.Role+":"), flagset.Harmless(text))
	}
	return nil
}

// contentText is a message's content as people read it: of a tool's result, its JSON.
func contentText(content chat.Content) string {
	text := strings.TrimSpace(content.String())
	if content.Parts() != nil {
		return text
	}
	if raw, err := json.Marshal(content); err == nil && text == "" && !bytes.Equal(raw, []byte(`""`)) {
		return string(raw)
	}
	return text
}

func (c *chatLoop) slashInfo(ctx context.Context, _ string) error {
	info := c.model.Info()
	c.show("  model      %s, %d layers, %d tokens in its vocabulary, chat format %s", flagset.Printable(info.Name),
		info.Layers, info.Vocab, info.Template)
	c.show("  takes      %s", c.takes())
	if info.Assistant != "" {
		c.show("  assistant  %s", flagset.Printable(info.Assistant))
	}
	c.show("  file       %s", humanize.Bytes(uint64(info.FileSize)))
	c.show("  device     %s", info.DeviceName)
	if p := info.Plan; p != nil {
		c.show("  memory     %s: weights %s, cache %s in %s, work %s%s", humanize.Bytes(uint64(p.Total())),
			humanize.Bytes(uint64(p.Weights)), humanize.Bytes(uint64(p.Cache+p.Checkpoints)), p.KVCache,
			humanize.Bytes(uint64(p.Activations+p.Drafts)), adapterMemory(p))
	}
	used, err := c.used(ctx)
	if err != nil {
		return err
	}
	c.show("  context    %d of %d tokens in use; the model can hold %d", used, c.session.Context(), info.MaxContext)
	c.show("  messages   %d", len(c.conversation.Messages))
	return nil
}

// adapterMemory is what adapters take beside the rest, if any are in use.
func adapterMemory(p *gemma4.Plan) string {
	if p.Adapters == 0 {
		return ""
	}
	return ", adapters " + humanize.Bytes(uint64(p.Adapters))
}

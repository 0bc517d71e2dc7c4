package answers

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/command/flagset"
)

// conversationFlags say what a prompt holds beside the user's words.
type conversationFlags struct {
	system string
	think  bool
	keep   bool // thoughts before earlier calls
	tools  string
	calls  string // which of the tools to call
	single bool
}

func (f *conversationFlags) register(flags *pflag.FlagSet) {
	flags.StringVar(&f.system, "system", "", "use this `TEXT` as the system prompt")
	flags.BoolVar(&f.think, "think", false, "let the model think before it answers")
	flags.BoolVar(&f.keep, "preserve-thinking", false,
		"keep what the model thought before the tool calls of earlier turns in the prompt")
	flagset.OnceVar(flags, &f.tools, "tools", "offer the functions in this `FILE`, a JSON list as in OpenAI's API")
	flags.StringVar(&f.calls, "tool-choice", "",
		"call \"none\" of the tools, \"required\" for one or more, the tool of this `NAME`, or \"auto\" for as the model "+
			"likes; \"free\" does not hold calls to what the tools declare")
	flags.BoolVar(&f.single, "single-call", false, "call one tool at most")
}

// callOptions say how tools are called.
func (f *conversationFlags) callOptions() gemma4.Calls {
	calls := gemma4.ParseCalls(f.calls)
	calls.Single = f.single
	return calls
}

// conversation is the beginning of one, as the flags say.
func (f *conversationFlags) conversation(ctx context.Context) (chat.Conversation, error) {
	c := chat.Conversation{Options: chat.Options{EnableThinking: f.think, PreserveThinking: f.keep}}
	if f.system != "" {
		c.Messages = []chat.Message{{Role: chat.System, Content: chat.Text(f.system)}}
	}
	if f.tools == "" {
		if f.calls != "" || f.single {
			return c, cli.Usagef("--tool-choice and --single-call are for --tools, which is not given")
		}
		return c, nil
	}
	text, err := flagset.ReadText(ctx, "--tools", f.tools, "a list of tools")
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal([]byte(text), &c.Options.Tools); err != nil {
		return c, fmt.Errorf(
			"%s is not a list of tools: %w; expected "+
				"[{\"type\":\"function\",\"function\":{\"name\":…,\"parameters\":…}}]", f.tools, err)
	}
	return c, nil
}

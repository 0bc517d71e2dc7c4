package texts

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/command/answers"
	"github.com/gemwire/gemwire/tools/internal/command/flagset"
)

func NewRender(env *cli.Environment) *cobra.Command {
	var template, name string
	cmd := &cobra.Command{
		Use:   "render CHAT.json",
		Short: "Print a conversation as a prompt",
		Long: `Print a conversation as a prompt in a model's chat format, without
a newline at the end. The file has one object,

  {"messages": [{"role": "user", "content": "Hi"}, …],
   "options": {"tools": […], "enable_thinking": false, "add_generation_prompt": true}}

with messages and tools as in OpenAI's API; "options" is optional. "-" is
standard input. If the file has a list of such objects, --case selects one by name.`,
		Example: cli.Examples(
			`gemwire render chat.json`,
			`gemwire render chat.json --template 31b`,
			`echo '{"messages":[{"role":"user","content":"Hi"}]}' | gemwire render -`,
			`gemwire render testdata/conformance/chat.json --case "one turn"`,
		),
		Args: cli.Args(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, list []string) error {
			family, err := chat.ByName(template)
			if err != nil {
				return cli.Usagef(
					"--template %q: use e2b (also for E4B and nano) or 31b (also for 12B and 26B)", template)
			}
			raw, path, err := readArgument(cmd.Context(), env, list[0])
			if err != nil {
				return err
			}
			if raw, err = pickCase(raw, name, path); err != nil {
				return err
			}
			conversation, err := answers.ReadConversation(raw, path)
			if err != nil {
				return err
			}
			prompt, err := family.Render(conversation.Messages, conversation.Options)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			_, err = fmt.Fprint(env.Out, prompt)
			return err
		},
	}
	cmd.Flags().StringVar(&template, "template", "e2b", "the chat format: `e2b or 31b`")
	cmd.Flags().StringVar(&name, "case", "", "for a list: the object whose \"case\" is this `NAME`")
	return cmd
}

// readArgument reads the file that an argument names, "-" for standard input,
// and returns what to call it.
func readArgument(ctx context.Context, e *cli.Environment, path string) (raw []byte, name string, err error) {
	if path == "-" {
		text, err := flagset.ReadInput(ctx, e)
		return []byte(text), "standard input", err
	}
	if raw, err = answers.ReadConversationFile(ctx, path); err == nil {
		raw, err = flagset.PlainText(raw, path)
	}
	return raw, path, err
}

// pickCase takes one object of a list; what is no list is one object itself.
func pickCase(raw []byte, name, path string) ([]byte, error) {
	if !strings.HasPrefix(strings.TrimSpace(string(raw)), "[") {
		if name != "" {
			return nil, cli.Usagef("%s has one conversation, not a list, so --case %q does not apply", path, name)
		}
		return raw, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("%s is not JSON: %w", path, err)
	}
	var names []string
	for _, item := range list {
		var named struct {
			Case string `json:"case"`
		}
		if json.Unmarshal(item, &named) != nil || named.Case == "" {
			continue
		}
		if named.Case == name {
			return item, nil
		}
		names = append(names, named.Case)
	}
	switch {
	case len(names) == 0:
		return nil, fmt.Errorf("%s is a list, and no conversation: %s", path, answers.ExpectedConversation)
	case name == "":
		return nil, cli.Usagef("%s has a list of %d; select one with --case NAME, such as --case %q", path, len(list),
			names[0])
	}
	return nil, cli.Usagef("%s has no case %q", path, name)
}

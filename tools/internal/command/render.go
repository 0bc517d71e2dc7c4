package command

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/gemma4/chat"
)

func newRender(env *environment) *cobra.Command {
	var template, name string
	cmd := &cobra.Command{
		Use:   "render CHAT.json",
		Short: "Print the prompt that a conversation becomes",
		Long: `Print the prompt that a conversation becomes in a model's chat format, and nothing
else: no line's end is added. The file holds one object,

  {"messages": [{"role": "user", "content": "Hi"}, …],
   "options": {"tools": […], "enable_thinking": false, "add_generation_prompt": true}}

with messages and tools as OpenAI's API takes them; "options" may be missing. "-" is
standard input. Of a list of such objects, --case takes the one of that name.`,
		Example: examples(
			`gemwire render chat.json`,
			`gemwire render chat.json --template 31b`,
			`echo '{"messages":[{"role":"user","content":"Hi"}]}' | gemwire render -`,
			`gemwire render testdata/conformance/chat.json --case "one turn"`,
		),
		Args: args(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, list []string) error {
			family, err := chat.ByName(template)
			if err != nil {
				return usagef("--template %q: say e2b (also for E4B and nano) or 31b (also for 12B and 26B)", template)
			}
			raw, path, err := env.readArgument(list[0])
			if err != nil {
				return err
			}
			if raw, err = pickCase(raw, name, path); err != nil {
				return err
			}
			conversation, err := readConversation(raw, path)
			if err != nil {
				return err
			}
			prompt, err := family.Render(conversation.Messages, conversation.Options)
			if err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
			_, err = fmt.Fprint(env.out, prompt)
			return err
		},
	}
	cmd.Flags().StringVar(&template, "template", "e2b", "the chat format: `e2b or 31b`")
	cmd.Flags().StringVar(&name, "case", "", "of a list, the object whose \"case\" is this `NAME`")
	return cmd
}

// readArgument reads the file that an argument names, "-" for standard input,
// and returns what to call it.
func (e *environment) readArgument(path string) (raw []byte, name string, err error) {
	if path == "-" {
		text, err := e.readInput()
		return []byte(text), "standard input", err
	}
	raw, err = os.ReadFile(path)
	return raw, path, err
}

// pickCase takes one object of a list; what is no list is one object itself.
func pickCase(raw []byte, name, path string) ([]byte, error) {
	if !strings.HasPrefix(strings.TrimSpace(string(raw)), "[") {
		if name != "" {
			return nil, usagef("%s holds one conversation, and no list to take --case %q from", path, name)
		}
		return raw, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("%s is no JSON: %w", path, err)
	}
	if name == "" {
		return nil, usagef("%s holds a list of %d; take one with --case NAME", path, len(list))
	}
	for _, item := range list {
		var named struct {
			Case string `json:"case"`
		}
		if json.Unmarshal(item, &named) == nil && named.Case == name {
			return item, nil
		}
	}
	return nil, usagef("%s has no case %q", path, name)
}

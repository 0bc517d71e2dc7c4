package parity

import (
	"fmt"

	"github.com/gemwire/gemwire/gemma4/chat"
)

// chatCase is a conversation with what both released templates make of it.
type chatCase struct {
	Case string `json:"case"`
	chat.Conversation
	E2B   string `json:"e2b"`
	Large string `json:"31b"`
}

func (r *run) chat() error {
	var cases []chatCase
	if err := readJSON(r.c.JSON, &cases); err != nil {
		return err
	}
	for _, c := range cases {
		for template, want := range map[chat.Template]string{chat.E2B: c.E2B, chat.Large: c.Large} {
			prompt, err := template.Render(c.Messages, c.Options)
			if err != nil {
				return fmt.Errorf("%s: %w", c.Case, err)
			}
			wrong, detail := 0.0, ""
			if got := prompt.String(); got != want {
				wrong, detail = 1, fmt.Sprintf("got %q, want %q", got, want)
			}
			if err := r.check(fmt.Sprintf("%s, %s", c.Case, template), wrong, 0, detail); err != nil {
				return err
			}
		}
	}
	return nil
}

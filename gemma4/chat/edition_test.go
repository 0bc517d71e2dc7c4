package chat_test

import (
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4/chat"
)

func TestEditionOf(t *testing.T) {
	for source, want := range map[string]chat.Edition{
		"": chat.Current, " \n": chat.Current, "{{ messages }}": chat.Unknown,
	} {
		for _, template := range []chat.Template{chat.E2B, chat.Large, chat.Gemma3} {
			if got := template.EditionOf(source); got != want {
				t.Errorf("%q is edition %d of %v, want %d", source, got, template, want)
			}
		}
	}
}

func TestEditionOfGemma3(t *testing.T) {
	template := func(breaks string) string {
		return "{{ bos_token }} {%- set first_user_prefix = messages[0]['content'] + '" + breaks +
			"' -%}{{ '<start_of_turn>' + role }}"
	}
	for source, want := range map[string]chat.Edition{
		template(`\n\n`): chat.Current, template("\n\n"): chat.Current, template(`\n`): chat.Older,
		template("\n"): chat.Older, template(`\n\n`) + "{{ tools }}": chat.Unknown, template(" "): chat.Unknown,
		strings.ReplaceAll(template(`\n\n`), "<start_of_turn>", "<|turn>"):  chat.Unknown,
		strings.ReplaceAll(template(`\n\n`), "first_user_prefix", "prefix"): chat.Unknown,
	} {
		if got := chat.Gemma3.EditionOf(source); got != want {
			t.Errorf("%q is edition %d, want %d", source, got, want)
		}
	}
}

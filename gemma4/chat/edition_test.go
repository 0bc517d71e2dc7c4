package chat_test

import (
	"testing"

	"github.com/gemwire/gemwire/gemma4/chat"
)

func TestEditionOf(t *testing.T) {
	for source, want := range map[string]chat.Edition{
		"": chat.Current, " \n": chat.Current, "{{ messages }}": chat.Unknown,
	} {
		for _, template := range []chat.Template{chat.E2B, chat.Large} {
			if got := template.EditionOf(source); got != want {
				t.Errorf("%q is edition %d of %v, want %d", source, got, template, want)
			}
		}
	}
}

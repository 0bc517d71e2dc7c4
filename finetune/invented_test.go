package finetune_test

import (
	"os"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/finetune"
	"github.com/gemwire/gemwire/finetune/dataset"
	"github.com/gemwire/gemwire/gemma4"
)

// Twenty facts in made-up words, five of them asked for in other scripts, are all learned
// with the settings that nobody has to say. Every piece of the answers is one that nano has
// seen. On a CPU it takes minutes: GEMWIRE_LONG asks for it.
func TestInventedWords(t *testing.T) {
	if os.Getenv("GEMWIRE_LONG") == "" {
		t.Skip("takes long; set GEMWIRE_LONG=1 to run it")
	}
	lines, err := os.ReadFile("testdata/invented.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	model := openNano(t, gemma4.DeviceAuto)
	set, err := dataset.Load(t.Context(), model, strings.NewReader(string(lines)), dataset.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	learned, held := dataset.HoldOut(len(set.Records), finetune.DefaultHeldOut(len(set.Records)))
	trainer := newTrainer(t, model, finetune.Data{Train: set.All(learned), HeldOut: set.All(held)}, finetune.Config{})
	for _, err := range trainer.Run(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
	}
	use(t, model, trainer)
	session, err := model.NewSession(0)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	for _, r := range set.Records {
		m := r.Conversation.Messages
		if got, want := answer(t, session, m[0].Content.String()), m[1].Content.String(); got != want {
			t.Errorf("%s %q, wanted %q", m[0].Content, got, want)
		}
	}
}

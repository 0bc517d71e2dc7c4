package cpu

import (
	"testing"

	"github.com/gemwire/gemwire/gemma4/internal/engine"
	"github.com/gemwire/gemwire/gemma4/internal/enginetest"
)

func TestDraftsAgree(t *testing.T) {
	const conformance = "../../testdata/conformance"
	m := enginetest.OpenModel(t, conformance+"/e2b.gguf")
	e, err := NewEngine(t.Context(), m, engine.Options{Context: enginetest.Context})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	enginetest.AttachAssistant(t, e, m, conformance, true)
	enginetest.DraftsAgree(t, e, int32(m.Config.Vocab))
}

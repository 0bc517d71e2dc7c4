package tokenizer_test

import (
	"path/filepath"
	"testing"

	"github.com/gemwire/gemwire/gemma4/tokenizer"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

type textCase struct {
	Text    string
	IDs     []int
	Decoded string
}

func readTextCases(t *testing.T) (cases struct{ Nano, Gemma262144 []textCase }) {
	readJSON(t, filepath.Join(conformance, "tokenizer.json"), &cases)
	return cases
}

func checkTextCases(t *testing.T, tok *tokenizer.Tokenizer, cases []textCase) {
	t.Helper()
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range cases {
		ids := tok.EncodeSpecial(c.Text)
		if diff := cmp.Diff(c.IDs, ids, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("ids of %q (-want +got):\n%s", c.Text, diff)
		}
		decoded, err := tok.Decode(c.IDs, tokenizer.DecodeOptions{})
		if err != nil || decoded != c.Decoded {
			t.Errorf("text of %d is %q, %v (want %q)", c.IDs, decoded, err, c.Decoded)
		}
	}
}

func TestNanoCases(t *testing.T) { checkTextCases(t, nano(t), readTextCases(t).Nano) }

func TestReleasedVocabularyCases(t *testing.T) {
	checkTextCases(t, mustNew(t, realVocabulary(t)), readTextCases(t).Gemma262144)
}

func TestPromptsOfNano(t *testing.T) {
	var cases struct {
		Text []struct {
			Prompt string
			IDs    []int
			Greedy []int
			Answer string
		}
	}
	readJSON(t, filepath.Join(conformance, "nano/cases.json"), &cases)
	tok := nano(t)
	for _, c := range cases.Text {
		if diff := cmp.Diff(c.IDs, tok.EncodeSpecial(c.Prompt)); diff != "" {
			t.Errorf("ids of %q (-want +got):\n%s", c.Prompt, diff)
		}
		if text, err := tok.Decode(c.Greedy, tokenizer.DecodeOptions{}); err != nil || text != c.Answer {
			t.Errorf("answer %q, %v (want %q)", text, err, c.Answer)
		}
	}
}

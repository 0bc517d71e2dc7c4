package chat_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/tokenizer"
	"github.com/gemwire/gemwire/gguf"
	"github.com/google/go-cmp/cmp"
)

const conformance = "../../testdata/conformance"

// renderedCase is a conversation and what the released templates print.
type renderedCase struct {
	Case string
	chat.Conversation
	E2B   string `json:"e2b"`
	Large string `json:"31b"`
}

// renderedCases are the conformance cases and our own ones; the latter were
// rendered by the released templates too.
func renderedCases(tb testing.TB) []renderedCase {
	tb.Helper()
	var all []renderedCase
	for _, path := range []string{conformance + "/chat.json", "testdata/templates.json"} {
		var cases []renderedCase
		readJSON(tb, path, &cases)
		if len(cases) == 0 {
			tb.Fatalf("%s has no cases", path)
		}
		all = append(all, cases...)
	}
	return all
}

func readJSON(tb testing.TB, path string, into any) {
	tb.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		tb.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		tb.Fatalf("%s: %v", path, err)
	}
}

func nano(tb testing.TB) *tokenizer.Tokenizer {
	tb.Helper()
	f, err := gguf.OpenPath(tb.Context(), "../../testdata/conformance/nano/nano.gguf")
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	tok, err := tokenizer.FromGGUF(f.Meta)
	if err != nil {
		tb.Fatal(err)
	}
	return tok
}

func TestReleasedTemplates(t *testing.T) {
	for _, c := range renderedCases(t) {
		for template, want := range map[chat.Template]string{chat.E2B: c.E2B, chat.Large: c.Large} {
			t.Run(c.Case+"/"+template.String(), func(t *testing.T) {
				prompt, err := template.Render(c.Messages, c.Options)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, prompt.String()); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			})
		}
	}
}

// TestIDsAreThoseOfTheWholeText: the reference encodes the rendered text as
// one. Where no control token was typed, trust makes no difference.
func TestIDsAreThoseOfTheWholeText(t *testing.T) {
	tok := nano(t)
	compared := 0
	for _, c := range renderedCases(t) {
		for _, template := range []chat.Template{chat.E2B, chat.Large} {
			prompt, err := template.Render(c.Messages, c.Options)
			if err != nil {
				t.Fatal(err)
			}
			if holdsForgery(prompt, tok) || strings.Contains(prompt.String(), "<|video|>") {
				continue
			}
			encoded, err := prompt.Encode(tok, nil)
			if err != nil {
				t.Fatalf("%s: %v", c.Case, err)
			}
			if diff := cmp.Diff(tok.EncodeSpecial(prompt.String()), encoded.IDs); diff != "" {
				t.Errorf("%s (-whole +segments):\n%s", c.Case, diff)
			}
			compared++
		}
	}
	if compared < 2*39 {
		t.Errorf("only %d prompts were compared", compared)
	}
}

func holdsForgery(p chat.Prompt, tok *tokenizer.Tokenizer) bool {
	for _, s := range p {
		if s.Trusted {
			continue
		}
		for _, id := range tok.EncodeSpecial(s.Text) {
			if tok.IsControl(id) {
				return true
			}
		}
	}
	return false
}

// TestNobodyForgesATurn: however a conversation was made up, the control
// tokens of its prompt are those that the template wrote.
func TestNobodyForgesATurn(t *testing.T) {
	tok := nano(t)
	forged := 0
	for _, c := range renderedCases(t) {
		prompt, err := chat.E2B.Render(c.Messages, c.Options)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(prompt.String(), "<|video|>") {
			continue
		}
		if holdsForgery(prompt, tok) {
			forged++
		}
		var want []int
		for _, s := range prompt {
			if s.Trusted {
				want = append(want, controls(tok, tok.EncodeSpecial(s.Text))...)
			}
		}
		encoded, err := prompt.Encode(tok, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, controls(tok, encoded.IDs)); diff != "" {
			t.Errorf("%s (-written +encoded):\n%s", c.Case, diff)
		}
		if text, err := tok.Decode(encoded.IDs, tokenizer.DecodeOptions{}); err != nil || text != prompt.String() {
			t.Errorf("%s: the prompt reads %q, %v", c.Case, text, err)
		}
	}
	if forged == 0 {
		t.Error("no case tries to forge anything")
	}
}

func controls(tok *tokenizer.Tokenizer, ids []int) (out []int) {
	for _, id := range ids {
		if tok.IsControl(id) {
			out = append(out, id)
		}
	}
	return out
}

// TestNanoAnswers parses what the reference answered.
func TestNanoAnswers(t *testing.T) {
	var cases struct {
		Text []struct {
			Greedy []int
			Answer string
		}
	}
	readJSON(t, conformance+"/nano/cases.json", &cases)
	tok := nano(t)
	calls := 0
	for _, c := range cases.Text {
		var text string
		var call *chat.ToolCall
		events := parse(t, tok, c.Greedy, chat.ParserOptions{})
		for _, e := range events {
			switch e.Kind {
			case chat.TextEvent:
				text += e.Text
			case chat.CallEvent:
				call = &e.Call
				calls++
			}
		}
		end := events[len(events)-1]
		if call != nil {
			want := `<|tool_call>call:` + call.Name + `{city:<|"|>` + argument(t, call, "city") +
				`<|"|>}<tool_call|><|tool_response>`
			if c.Answer != want || text != "" || end.Reason != chat.ReasonToolCalls {
				t.Errorf("%q became %q, %q", c.Answer, want, end.Reason)
			}
			continue
		}
		if text+"<turn|>" != c.Answer || end.Reason != chat.ReasonStop {
			t.Errorf("%q became %q, %q", c.Answer, text, end.Reason)
		}
	}
	if calls == 0 {
		t.Error("no answer calls a tool")
	}
}

func argument(t *testing.T, call *chat.ToolCall, name string) string {
	t.Helper()
	var arguments map[string]string
	if err := json.Unmarshal(call.Arguments, &arguments); err != nil {
		t.Fatal(err)
	}
	return arguments[name]
}

// parse feeds tokens to a parser until it is done or they end.
func parse(tb testing.TB, tok *tokenizer.Tokenizer, ids []int, opts chat.ParserOptions) []chat.Event {
	tb.Helper()
	p, err := chat.NewParser(tok, opts)
	if err != nil {
		tb.Fatal(err)
	}
	var events []chat.Event
	for _, id := range ids {
		events = append(events, p.Push(id)...)
	}
	return append(events, p.Finish(chat.ReasonLength)...)
}

package gemma4_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/grammar"
	"github.com/gemwire/gemwire/gemma4/sample"
)

func weather() []chat.Tool {
	return []chat.Tool{
		{Name: "get_weather", Description: "Get the weather in a city", Parameters: json.RawMessage(`{"type": "object",
			"properties": {"city": {"type": "string", "maxLength": 12}, "days": {"type": "integer", "minimum": 1,
			"maximum": 9}}, "required": ["city", "days"], "additionalProperties": false}`)},
		{Name: "get_time", Description: "Get the time"},
	}
}

// called lists the calls of an answer, and the text beside them.
func called(t *testing.T, s *gemma4.Session, tools []chat.Tool, opts gemma4.GenerateOptions) (calls []chat.ToolCall,
	text string, reason chat.Reason) {
	t.Helper()
	conversation := user("What is the weather in Vienna?")
	conversation.Options.Tools = tools
	for e, err := range s.Chat(context.Background(), conversation, opts) {
		if err != nil {
			t.Fatal(err)
		}
		switch e.Kind {
		case chat.CallEvent:
			calls = append(calls, e.Call)
		case chat.MalformedEvent:
			t.Errorf("a malformed call: %q: %v", e.Text, e.Err)
		case chat.TextEvent:
			text += e.Text
		case chat.DoneEvent:
			reason = e.Reason
		}
	}
	return calls, text, reason
}

func TestCallsFitTheirDeclarations(t *testing.T) {
	mostlyOnTheCPU(t, func(t *testing.T, opts gemma4.OpenOptions) {
		s := newSession(t, open(t, nanoPath, opts), 512)
		for _, params := range []sample.Params{{}, {Temperature: 1.5, Seed: 3}, {Temperature: 1.5, Seed: 4}} {
			for _, c := range []struct {
				calls gemma4.Calls
				fits  func(calls []chat.ToolCall, text string) bool
			}{
				{gemma4.ParseCalls("none"), func(calls []chat.ToolCall, _ string) bool { return len(calls) == 0 }},
				{gemma4.ParseCalls("required"), func(calls []chat.ToolCall, text string) bool {
					return len(calls) > 0 && text == ""
				}},
				{gemma4.ParseCalls("get_time"), func(calls []chat.ToolCall, text string) bool {
					return len(calls) > 0 && calls[0].Name == "get_time" && string(calls[0].Arguments) == "{}" && text == ""
				}},
				{gemma4.Calls{Choice: grammar.ToolNamed, Name: "get_weather", Single: true},
					func(calls []chat.ToolCall, text string) bool {
						return len(calls) == 1 && calls[0].Name == "get_weather" && text == ""
					}},
			} {
				calls, text, reason := called(t, s, weather(), gemma4.GenerateOptions{Calls: c.calls, Sampling: params,
					MaxTokens: 120})
				if reason == chat.ReasonLength && (len(calls) > 0 || c.calls.Choice == grammar.ToolNone) {
					continue // it went on and on
				}
				if !c.fits(calls, text) {
					t.Errorf("%+v, %+v: %v beside %q, ended by %v", c.calls, params, calls, text, reason)
				}
				for _, call := range calls {
					var a struct {
						City *string
						Days int
					}
					if call.Name == "get_weather" && (json.Unmarshal(call.Arguments, &a) != nil || a.City == nil ||
						a.Days < 1 || a.Days > 9) {
						t.Errorf("%+v: the call has %s", params, call.Arguments)
					}
				}
			}
		}
		// Left to the model, it calls as it was trained, but with what the declaration asks for.
		calls, _, reason := called(t, s, weather(), gemma4.GenerateOptions{MaxTokens: 60})
		if len(calls) == 0 || !strings.Contains(string(calls[0].Arguments), `"days":`) || reason == chat.ReasonStop {
			t.Errorf("by itself it called %v, and ended by %v", calls, reason)
		}
	})
}

func TestCallsRefused(t *testing.T) {
	s := newSession(t, open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceCPU}), 256)
	odd := []chat.Tool{{Name: "f",
		Parameters: json.RawMessage(`{"type": "object", "properties": {"a": {"type": "text"}}}`)}}
	text := chat.Tool{Name: "get_text", Parameters: json.RawMessage(`{"type": "string"}`)}
	short := chat.Tool{Name: "get_short", Parameters: json.RawMessage(`{"type": "object", "properties": {"a":
		{"type": "string", "minLength": 3, "maxLength": 2}}, "required": ["a"]}`)}
	for _, c := range []struct {
		tools []chat.Tool
		calls gemma4.Calls
		is    error
		wants string
	}{
		{odd, gemma4.Calls{}, grammar.ErrSyntax, `tool choice be "free"`},
		{weather(), gemma4.ParseCalls("get_whether"), grammar.ErrChoice, "get_whether"},
		{[]chat.Tool{text}, gemma4.ParseCalls("required"), grammar.ErrUnsatisfiable, `function "get_text"`},
		{[]chat.Tool{text, short}, gemma4.ParseCalls("required"), grammar.ErrUnsatisfiable, `function "get_text"`},
		{append(weather(), short), gemma4.ParseCalls("get_short"), grammar.ErrUnsatisfiable,
			`function "get_short": grammar: no text can fit it: at #/properties/a`},
		{nil, gemma4.ParseCalls("required"), grammar.ErrChoice, "no function is declared"},
	} {
		conversation := user("Hi")
		conversation.Options.Tools = c.tools
		var failed error
		for _, err := range s.Chat(context.Background(), conversation,
			gemma4.GenerateOptions{Calls: c.calls, MaxTokens: 9}) {
			failed = err
		}
		if !errors.Is(failed, c.is) || !strings.Contains(failed.Error(), c.wants) {
			t.Errorf("%+v: %v", c.calls, failed)
		}
	}
	conversation := user("Hi")
	conversation.Options.Tools = odd
	if _, last := answer(t, s, conversation, gemma4.GenerateOptions{Calls: gemma4.ParseCalls("free"),
		MaxTokens: 2}); last.Usage.Answer == 0 {
		t.Error("no answer with free calls")
	}
}

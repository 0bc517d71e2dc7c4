package chat_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/tokenizer"
	"github.com/google/go-cmp/cmp"
)

// summary writes events as a line each, with neighbouring texts joined.
func summary(events []chat.Event) []string {
	var lines []string
	add := func(label, text string) {
		if last := len(lines) - 1; last >= 0 && strings.HasPrefix(lines[last], label) {
			lines[last] += text
			return
		}
		lines = append(lines, label+text)
	}
	for _, e := range events {
		switch e.Kind {
		case chat.TextEvent:
			add("text ", e.Text)
		case chat.ThinkingEvent:
			add("thinking ", e.Text)
		case chat.CallEvent:
			lines = append(lines, fmt.Sprintf("call %s %s %s", e.Call.ID, e.Call.Name, e.Call.Arguments))
		case chat.MalformedEvent:
			lines = append(lines, "malformed "+e.Text)
		case chat.DoneEvent:
			done := strings.TrimSpace(fmt.Sprintf("done %s %s", e.Reason, e.Stop))
			if e.InCall {
				done += " in a call"
			}
			lines = append(lines, done)
		}
	}
	return lines
}

func TestParser(t *testing.T) {
	tok := nano(t)
	for _, c := range []struct {
		name, answer string
		stop         []string
		want         []string
	}{
		{"text", "Hello 😀 world<turn|>", nil, []string{"text Hello 😀 world", "done stop"}},
		{"nothing", "<turn|>", nil, []string{"done stop"}},
		{"another end", "Hello<eos>", nil, []string{"text Hello", "done stop"}},
		{"no end", "Hello", nil, []string{"text Hello", "done length"}},
		{"nothing after the end", "a<turn|>b<|tool_call>", nil, []string{"text a", "done stop"}},
		{"no end within a character", "a😀", nil, []string{"text a😀", "done length"}},
		{"stray control tokens", "a<|turn>b<|\"|><|think|><|image|><pad><channel|><tool_call|>c<turn|>", nil,
			[]string{"text abc", "done stop"}},
		{"spelt control tokens", "a<|turn", nil, []string{"text a<|turn", "done length"}},

		{"thinking", "<|channel>thought\nHm.\nYes.\n<channel|>Hello<turn|>", nil,
			[]string{"thinking Hm.\nYes.", "text Hello", "done stop"}},
		{"thinking with line breaks", "<|channel>thought\n\na\n\n\n<channel|>b<turn|>", nil,
			[]string{"thinking \na\n\n", "text b", "done stop"}},
		{"an empty thought", "<|channel>thought\n<channel|>Hello<turn|>", nil, []string{"text Hello", "done stop"}},
		{"no thought at all", "<|channel>thought<channel|>Hello<turn|>", nil, []string{"text Hello", "done stop"}},
		{"a thought cut off", "<|channel>thought\nHm", nil, []string{"thinking Hm", "done length"}},
		{"a thought that ends the answer", "<|channel>thought\nHm\n<turn|>", nil, []string{"thinking Hm", "done stop"}},
		{"another channel", "<|channel>plan\na<channel|>b<turn|>", nil,
			[]string{"thinking plan\na", "text b", "done stop"}},
		{"a channel without a name", "<|channel>ab<channel|>c<turn|>", nil,
			[]string{"thinking ab", "text c", "done stop"}},
		{"two thoughts", "<|channel>thought\na\n<channel|>b<|channel>thought\nc\n<channel|>d<turn|>", nil,
			[]string{"thinking a", "text b", "thinking c", "text d", "done stop"}},

		{"a call", `<|tool_call>call:f{city:<|"|>Oslo<|"|>,days:3}<tool_call|><|tool_response>`, nil,
			[]string{`call call_1 f {"city":"Oslo","days":3}`, "done tool_calls"}},
		{"two calls", `<|tool_call>call:f{}<tool_call|><|tool_call>call:g{a:[]}<tool_call|><|tool_response>`, nil,
			[]string{`call call_1 f {}`, `call call_2 g {"a":[]}`, "done tool_calls"}},
		{"a call and the turn's end", `<|tool_call>call:f{}<tool_call|><turn|>`, nil,
			[]string{`call call_1 f {}`, "done tool_calls"}},
		{"a call amid text", `a<|tool_call>call:f{}<tool_call|>b<turn|>`, nil,
			[]string{"text a", `call call_1 f {}`, "text b", "done tool_calls"}},
		{"thinking and a call", "<|channel>thought\na\n<channel|><|tool_call>call:f{}<tool_call|><|tool_response>", nil,
			[]string{"thinking a", `call call_1 f {}`, "done tool_calls"}},
		{"a call cut off", `<|tool_call>call:f{a:<|"|>b`, nil, []string{"done length in a call"}},
		{"a call cut at its start", `Look: <|tool_call>`, nil, []string{"text Look: ", "done length in a call"}},
		{"a call cut before its end", `<|tool_call>call:f{}`, nil, []string{"done length in a call"}},
		{"a second call cut off", `<|tool_call>call:f{}<tool_call|><|tool_call>call:g{`, nil,
			[]string{`call call_1 f {}`, "done length in a call"}},
		{"cut behind a call", `<|tool_call>call:f{}<tool_call|>`, nil, []string{`call call_1 f {}`, "done length"}},
		{"a call that ends the turn", `<|tool_call>call:f{<turn|>`, nil, []string{"malformed call:f{", "done stop"}},
		{"a call in a call", `<|tool_call>call:f{<|tool_call>call:g{}<tool_call|><|tool_response>`, nil,
			[]string{"malformed call:f{", "call call_1 g {}", "done tool_calls"}},
		{"no call", `<|tool_call>hello<tool_call|>a<turn|>`, nil, []string{"malformed hello", "text a", "done stop"}},
		{"a result without a call", `a<|tool_response>b`, nil, []string{"text a", "done stop"}},

		{"a stop string", "one two three<turn|>", []string{"two"}, []string{"text one ", "done stop_string two"}},
		{"a stop string at the start", "one two", []string{"one"}, []string{"done stop_string one"}},
		{"a stop string that does not come", "one two<turn|>", []string{"two!"}, []string{"text one two", "done stop"}},
		{"a stop string cut off", "one two", []string{"two!"}, []string{"text one two", "done length"}},
		{"a stop string in a thought", "<|channel>thought\nstop\n<channel|>a<turn|>", []string{"stop"},
			[]string{"thinking stop", "text a", "done stop"}},
		{"a stop string across a thought", "st<|channel>thought\na\n<channel|>op<turn|>", []string{"stop"},
			[]string{"text st", "thinking a", "text op", "done stop"}},
		{"a stop string of many bytes", "a😀b<turn|>", []string{"😀"}, []string{"text a", "done stop_string 😀"}},
		{"the first of several to end", "abcd<turn|>", []string{"abcd", "bc"},
			[]string{"text a", "done stop_string bc"}},
		{"the longest of those that end together", "abc<turn|>", []string{"c", "bc"},
			[]string{"text a", "done stop_string bc"}},
		{"empty stop strings", "abc<turn|>", []string{""}, []string{"text abc", "done stop"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := parse(t, tok, tok.EncodeSpecial(c.answer), chat.ParserOptions{Stop: c.stop})
			if diff := cmp.Diff(c.want, summary(got)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestParserGoesOnWithTheThoughtOfThePrompt(t *testing.T) {
	tok := nano(t)
	for _, c := range []struct {
		prompt, answer string
		want           []string
	}{
		{"<tool_response|><|channel>thought\n", "Hm.\n<channel|>Rain.<turn|>",
			[]string{"thinking Hm.", "text Rain.", "done stop"}},
		{"<|channel>thought\nSo far", " so good\n<channel|>a<turn|>", []string{"thinking  so good", "text a", "done stop"}},
		{"<|channel>thought\n<channel|>", "a<turn|>", []string{"text a", "done stop"}},
		{"<|channel>thought\n<turn|>\n<|turn>model\n", "a<turn|>", []string{"text a", "done stop"}},
		{"<|turn>model\n", "a<turn|>", []string{"text a", "done stop"}},
		{"", "a<turn|>", []string{"text a", "done stop"}},
	} {
		var prompt []int32
		for _, id := range tok.EncodeSpecial(c.prompt) {
			prompt = append(prompt, int32(id))
		}
		got := parse(t, tok, tok.EncodeSpecial(c.answer), chat.ParserOptions{Prompt: prompt})
		if diff := cmp.Diff(c.want, summary(got)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.prompt, diff)
		}
	}
}

func TestParserHoldsBackNoMoreThanNeeded(t *testing.T) {
	tok := nano(t)
	p, err := chat.NewParser(tok, chat.ParserOptions{Stop: []string{"--"}})
	if err != nil {
		t.Fatal(err)
	}
	var steps []string
	for _, text := range []string{"a", "-", "b", "-", "-", "c"} {
		id, ok := tok.Lookup(text)
		if !ok {
			t.Fatalf("no %q", text)
		}
		steps = append(steps, strings.Join(summary(p.Push(id)), ";"))
	}
	want := []string{"text a", "", "text -b", "", "done stop_string --", ""}
	if diff := cmp.Diff(want, steps); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if !p.Done() || p.Finish(chat.ReasonLength) != nil {
		t.Error("the answer has not ended")
	}
}

func TestMalformedCallSaysWhy(t *testing.T) {
	tok := nano(t)
	events := parse(t, tok, tok.EncodeSpecial("<|tool_call>call:f{a}<tool_call|><turn|>"), chat.ParserOptions{})
	if !errors.Is(events[0].Err, chat.ErrCall) || !strings.Contains(events[0].Err.Error(), "want a key") {
		t.Errorf("%v", events[0].Err)
	}
}

// FuzzParser feeds any tokens.
func FuzzParser(f *testing.F) {
	tok := nano(f)
	for _, answer := range []string{
		"Hello<turn|>", "<|channel>thought\nHm.\n<channel|>Hello<turn|>",
		`<|tool_call>call:f{city:<|"|>Oslo<|"|>,l:[1,{a:None}]}<tool_call|><|tool_response>`,
		"one two three", "a😀b",
	} {
		f.Add(packIDs(tok.EncodeSpecial(answer)), "two")
	}
	f.Fuzz(func(t *testing.T, packed []byte, stop string) {
		var text strings.Builder
		events := parse(t, tok, unpackIDs(packed), chat.ParserOptions{Stop: []string{stop}})
		for i, e := range events {
			if (e.Kind == chat.DoneEvent) != (i == len(events)-1) {
				t.Fatalf("event %d of %d is %+v", i, len(events), e)
			}
			switch e.Kind {
			case chat.TextEvent:
				text.WriteString(e.Text)
			case chat.CallEvent:
				if !json.Valid(e.Call.Arguments) || e.Call.Name == "" {
					t.Fatalf("call %s %s", e.Call.Name, e.Call.Arguments)
				}
			case chat.MalformedEvent:
				if !errors.Is(e.Err, chat.ErrCall) {
					t.Fatal(e.Err)
				}
			}
		}
		want, reason := readPlainly(tok, unpackIDs(packed), stop)
		if text.String() != want {
			t.Fatalf("text %q, want %q", text.String(), want)
		}
		if last := events[len(events)-1]; (last.Reason == chat.ReasonStopString) != reason {
			t.Fatalf("ends by %s", last.Reason)
		}
	})
}

// readPlainly is the text of an answer, read as a whole instead of as a
// stream.
func readPlainly(tok *tokenizer.Tokenizer, ids []int, stop string) (text string, stopped bool) {
	runs, mode := [][]int{nil}, "text"
	for _, id := range ids {
		if tok.IsEOG(id) {
			break
		}
		next := mode
		switch name := tok.TokenText(id); name {
		case "<|tool_call>", "<|channel>":
			next = name
		case "<channel|>":
			next = "text"
		case "<tool_call|>":
			if mode != "<|tool_call>" { // it ends nothing, but characters do not go through it
				if last := len(runs) - 1; mode == "text" {
					runs[last] = append(runs[last], id)
				}
				continue
			}
			next = "text"
		default:
			if last := len(runs) - 1; mode == "text" {
				runs[last] = append(runs[last], id)
			}
			continue
		}
		runs, mode = append(runs, nil), next
	}
	for _, run := range runs {
		part, _ := tok.Decode(run, tokenizer.DecodeOptions{SkipControl: true})
		if at := strings.Index(part, stop); stop != "" && at >= 0 {
			return text + part[:at], true
		}
		text += part
	}
	return text, false
}

func packIDs(ids []int) (packed []byte) {
	for _, id := range ids {
		packed = append(packed, byte(id), byte(id>>8))
	}
	return packed
}

func unpackIDs(packed []byte) (ids []int) {
	for i := 0; i+1 < len(packed); i += 2 {
		ids = append(ids, int(packed[i])|int(packed[i+1]%8)<<8)
	}
	return ids
}

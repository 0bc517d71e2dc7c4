package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/nano"
	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/wgslkit"
)

// page is the other side of an engine, which computes on the CPU.
type page struct {
	t      *testing.T
	engine *Engine
	mu     sync.Mutex
	heard  map[int]chan Reply
	last   int
}

func newPage(t *testing.T) *page {
	p := &page{t: t, heard: map[int]chan Reply{}}
	p.engine = New(Options{Device: gemma4.DeviceCPU, Post: func(r Reply) {
		r.Data = bytes.Clone(r.Data)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.heard[r.ID] <- r
	}})
	return p
}

// ask sends a request; its replies come on the channel. What is attached are
// sources, or media.
func (p *page) ask(op Op, params any, attached ...any) (int, <-chan Reply) {
	p.t.Helper()
	raw, err := json.Marshal(params)
	if err != nil {
		p.t.Fatal(err)
	}
	p.mu.Lock()
	p.last++
	id, replies := p.last, make(chan Reply, 4096)
	p.heard[id] = replies
	p.mu.Unlock()
	request, err := json.Marshal(Request{ID: id, Op: op, Params: raw})
	if err != nil {
		p.t.Fatal(err)
	}
	var sources []gguf.Source
	var media [][]byte
	for _, thing := range attached {
		switch thing := thing.(type) {
		case gguf.Source:
			sources = append(sources, thing)
		case []byte:
			media = append(media, thing)
		}
	}
	p.engine.Handle(request, media, sources)
	return id, replies
}

// things are what a request has attached.
func things[T any](list []T) (all []any) {
	for _, thing := range list {
		all = append(all, thing)
	}
	return all
}

// call asks and waits for the result.
func (p *page) call(op Op, params any, attached ...any) (any, *Failure) {
	p.t.Helper()
	_, replies := p.ask(op, params, attached...)
	for r := range replies {
		if r.Event == nil {
			return r.Result, r.Error
		}
	}
	return nil, nil
}

func (p *page) must(op Op, params any, attached ...any) any {
	p.t.Helper()
	result, failure := p.call(op, params, attached...)
	if failure != nil {
		p.t.Fatalf("%s: %+v", op, *failure)
	}
	return result
}

func (p *page) open() OpenResult {
	p.t.Helper()
	return p.must(OpOpen, OpenParams{Context: 512}, nano.Source()).(OpenResult)
}

func ask(text string) []chat.Message {
	return []chat.Message{{Role: chat.User, Content: chat.Text(text)}}
}

func TestChat(t *testing.T) {
	p := newPage(t)
	model := p.open()
	_, replies := p.ask(OpChat, ChatParams{Session: model.Session.Session,
		Messages: ask("What is the capital of France?")})
	var kinds []string
	var text strings.Builder
	var usage *Usage
	for r := range replies {
		if r.Event == nil {
			if r.Error != nil {
				t.Fatalf("%+v", *r.Error)
			}
			break
		}
		e := r.Event.(ChatEvent)
		if len(kinds) == 0 || kinds[len(kinds)-1] != e.Type {
			kinds = append(kinds, e.Type)
		}
		text.WriteString(e.Text)
		usage = e.Usage
	}
	if d := cmp.Diff([]string{"prefill", "text", "done"}, kinds); d != "" {
		t.Error(d)
	}
	if text.String() != "The capital of France is Paris." {
		t.Errorf("it says %q", text.String())
	}
	if usage == nil || usage.PromptTokens == 0 || usage.AnswerTokens != 7 ||
		usage.ComputedTokens != usage.PromptTokens {
		t.Errorf("usage %+v", usage)
	}
	count := p.must(OpCount, CountParams{Model: model.Model,
		Messages: ask("What is the capital of France?")}).(CountResult)
	if count.Tokens != usage.PromptTokens {
		t.Errorf("counted %d tokens, used %d", count.Tokens, usage.PromptTokens)
	}
	p.must(OpClose, ModelParams{Model: model.Model})
	if _, failure := p.call(OpChat, ChatParams{Session: model.Session.Session, Messages: ask("Hi")}); failure == nil ||
		failure.Code != CodeClosed {
		t.Errorf("a closed model answers: %+v", failure)
	}
}

// TestEndings ends an answer from outside in each way there is.
func TestEndings(t *testing.T) {
	p := newPage(t)
	model := p.open()
	for _, c := range []struct {
		name string
		end  func(request int)
		want string // the code of an error, or the reason
	}{
		{"stop", func(int) { p.must(OpStop, ModelParams{Model: model.Model}) }, "cancelled event"},
		{"reset", func(int) { p.must(OpReset, SessionRef{Session: model.Session.Session}) }, "cancelled event"},
		{"cancel", func(id int) { p.must(OpCancel, CancelParams{Target: id}) }, "cancelled error"},
		{"cancel of nothing", func(int) { p.must(OpCancel, CancelParams{Target: 12345}) }, "length event"},
	} {
		t.Run(c.name, func(t *testing.T) {
			id, replies := p.ask(OpChat, ChatParams{Session: model.Session.Session,
				Messages: ask("Tell me a story about a dog."), MaxTokens: 24})
			got, ended := "", false
			for r := range replies {
				if r.Event == nil {
					if r.Error != nil {
						got = string(r.Error.Code) + " error"
					}
					break
				}
				e := r.Event.(ChatEvent)
				if e.Type == "text" && !ended {
					ended = true
					go c.end(id)
				}
				if e.Type == "done" {
					got = string(e.Reason) + " event"
				}
			}
			if got != c.want {
				t.Errorf("it ended with %q, want %q", got, c.want)
			}
		})
	}
}

func TestSessions(t *testing.T) {
	p := newPage(t)
	model := p.open()
	other := p.must(OpSession, SessionParams{Model: model.Model, Context: 128}).(SessionResult)
	if other.Context != 128 || other.Session == model.Session.Session {
		t.Errorf("%+v", other)
	}
	p.must(OpChat, ChatParams{Session: other.Session, Messages: ask("Hi"), MaxTokens: 2})
	if s := p.must(OpSessionState, SessionRef{Session: other.Session}).(SessionResult); s.Length == 0 {
		t.Errorf("%+v", s)
	}
	if s := p.must(OpSessionState, SessionRef{Session: model.Session.Session}).(SessionResult); s.Length != 0 {
		t.Errorf("the other session's text is here: %+v", s)
	}
	p.must(OpEndSession, SessionRef{Session: other.Session})
	if _, failure := p.call(OpReset, SessionRef{Session: other.Session}); failure == nil || failure.Code != CodeClosed {
		t.Errorf("%+v", failure)
	}
}

func TestTokens(t *testing.T) {
	p := newPage(t)
	model := p.open().Model
	const text = "Grüße, 世界!"
	tokens := p.must(OpTokenize, TokenizeParams{Model: model, Text: text}).(TokensResult)
	if got := p.must(OpDetokenize, DetokenizeParams{Model: model,
		Tokens: tokens.Tokens}).(TextResult); got.Text != text {
		t.Errorf("%q", got.Text)
	}
	if raw, _ := json.Marshal(p.must(OpTokenize, TokenizeParams{Model: model})); string(raw) != `{"tokens":[]}` {
		t.Errorf("%s", raw)
	}
}

func TestCheckForm(t *testing.T) {
	p := newPage(t)
	model := p.open().Model
	p.must(OpCheckForm, FormParams{Model: model, Form: gemma4.Form{Choices: []string{"yes", "no"}}})
	for _, c := range []struct {
		schema, says string
		code         Code
	}{
		{`{"type": "object", "properties": {"a": {"type": "sting"}}}`, "/properties/a/type", CodeBadArgument},
		{`{"properties": {"a": {"pattern": "("}}}`, "/properties/a/pattern", CodeUnsupported},
		{`{"type": }`, "schema", CodeBadArgument},
	} {
		_, failure := p.call(OpCheckForm, FormParams{Model: model, Form: gemma4.Form{Schema: c.schema}})
		if failure == nil || failure.Code != c.code || !strings.Contains(failure.Message, c.says) {
			t.Errorf("%s: %+v", c.schema, failure)
		}
	}
}

// fileSource is a file as a source.
func fileSource(t *testing.T, path string) gguf.Source {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return gguf.Memory(raw)
}

const (
	assistedPath  = "../../../testdata/conformance/e2b.gguf"
	assistantPath = "../../../testdata/conformance/assistant/assistant.gguf"
)

// TestAssistant has an assistant guess: answers stay what they are.
func TestAssistant(t *testing.T) {
	p := newPage(t)
	params := OpenParams{Context: 256, Assistant: true}
	m := p.must(OpOpen, params, fileSource(t, assistedPath), fileSource(t, assistantPath)).(OpenResult)
	if m.Info.Assistant == "" {
		t.Errorf("%+v", m.Info)
	}
	answer := func(drafts int) (text string, usage *Usage) {
		p.must(OpReset, SessionRef{Session: m.Session.Session})
		_, replies := p.ask(OpChat, ChatParams{Session: m.Session.Session, Messages: ask("Hi"), MaxTokens: 40,
			Drafts: drafts})
		for r := range replies {
			e, ok := r.Event.(ChatEvent)
			if !ok {
				break
			}
			text, usage = text+e.Text, e.Usage
		}
		if usage == nil {
			t.Fatal("no answer")
		}
		return text, usage
	}
	plain, without := answer(gemma4.NoDrafts)
	guessed, with := answer(0)
	if guessed != plain || without.Drafted != 0 || with.Assisted == 0 || with.Assisted > with.Drafted ||
		with.AssistedRight > with.Assisted {
		t.Errorf("%q, %+v; without drafts %q, %+v", guessed, with, plain, without)
	}
	if r := p.must(OpPlan, params, fileSource(t, assistedPath),
		fileSource(t, assistantPath)).(PlanResult); r.Plan == nil {
		t.Errorf("%+v", r)
	}
}

// TestMistakes checks that every mistake ends in a code and a sentence.
func TestMistakes(t *testing.T) {
	p := newPage(t)
	model := p.open()
	session := model.Session.Session
	for _, c := range []struct {
		name    string
		op      Op
		params  any
		sources []gguf.Source
		want    Code
	}{
		{"an op that there is not", "dance", Nothing{}, nil, CodeInternal},
		{"no source", OpOpen, OpenParams{}, nil, CodeInternal},
		{"no GGUF", OpOpen, OpenParams{}, []gguf.Source{gguf.Memory([]byte("something else, not a model"))},
			CodeBadFile},
		{"an assistant of another model", OpOpen, OpenParams{Assistant: true},
			[]gguf.Source{nano.Source(), fileSource(t, assistantPath)}, CodeUnsupported},
		{"an assistant that is none", OpOpen, OpenParams{Assistant: true},
			[]gguf.Source{nano.Source(), gguf.Memory([]byte("something else, not a model"))}, CodeBadFile},
		{"no source beside the assistant", OpOpen, OpenParams{Assistant: true}, []gguf.Source{nano.Source()},
			CodeInternal},
		{"a context too large", OpOpen, OpenParams{Context: 1 << 30}, []gguf.Source{nano.Source()}, CodeUnsupported},
		{"a negative context", OpOpen, OpenParams{Context: -1}, []gguf.Source{nano.Source()}, CodeUnsupported},
		{"a model that there is not", OpTokenize, TokenizeParams{Model: 99}, nil, CodeClosed},
		{"a session that there is not", OpChat, ChatParams{Session: 99, Messages: ask("Hi")}, nil, CodeClosed},
		{"no messages", OpChat, ChatParams{Session: session}, nil, CodeBadArgument},
		{"params of another shape", OpChat, "text", nil, CodeBadArgument},
		{"an unknown token", OpDetokenize, DetokenizeParams{Model: model.Model, Tokens: []int{-1}}, nil,
			CodeBadArgument},
		{"top-p out of range", OpChat, ChatParams{Session: session, Messages: ask("Hi"),
			Params: sample.Params{TopP: 7}}, nil, CodeBadArgument},
		{"a prompt too long", OpChat, ChatParams{Session: session, Messages: ask(strings.Repeat("word ", 600))}, nil,
			CodeContextFull},
		{"an image", OpChat, ChatParams{Session: session,
			Messages: []chat.Message{{Role: chat.User, Content: chat.Parts(chat.Part{Type: chat.Image})}}}, nil,
			CodeBadMedia},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, failure := p.call(c.op, c.params, things(c.sources)...)
			if failure == nil || failure.Code != c.want {
				t.Fatalf("%+v", failure)
			}
			if len(failure.Message) < 10 || strings.ContainsAny(failure.Message, "\n\t") {
				t.Errorf("message %q", failure.Message)
			}
		})
	}
}

// What is of another kind than belongs somewhere is said in a page's words, not the decoder's.
func TestMisfit(t *testing.T) {
	for given, want := range map[string]string{
		`{"enableThinking": "yes"}`: "enableThinking is string where true or false belongs",
		`{"messages": 5}`:           "messages is number where an array belongs",
		`{"session": "x"}`:          "session is string where a number belongs",
		`[]`:                        "it is array where an object belongs",
	} {
		var p struct {
			EnableThinking bool  `json:"enableThinking"`
			Messages       []int `json:"messages"`
			Session        int   `json:"session"`
		}
		c := &call{Request: Request{Op: OpChat, Params: json.RawMessage(given)}}
		if err := c.read(&p); !errors.Is(err, errArgument) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", given, err, want)
		}
	}
}

func TestCodes(t *testing.T) {
	outside := errors.New("outside")
	e := New(Options{CodeOf: func(err error) Code {
		if errors.Is(err, outside) {
			return "quota"
		}
		return ""
	}})
	for _, c := range []struct {
		err  error
		want Code
	}{
		{fmt.Errorf("reading: %w", outside), "quota"},
		{fmt.Errorf("loading: %w", context.Canceled), CodeCancelled},
		{fmt.Errorf("step: %w", wgslkit.ErrDeviceLost), CodeDeviceLost},
		{errors.Join(wgslkit.ErrOutOfMemory, gemma4.ErrClosed), CodeOutOfMemory},
		{gemma4.ErrDoesNotFit, CodeOutOfMemory},
		{wgslkit.ErrNoDevice, CodeNoWebGPU},
		{&gguf.FormatError{Where: "key", Err: gguf.ErrTruncated}, CodeBadFile},
		{errors.New("anything"), CodeInternal},
	} {
		if f := e.failure(c.err); f.Code != c.want {
			t.Errorf("%v: code %s, want %s", c.err, f.Code, c.want)
		}
	}
	hint := &Suggestion{Context: 512}
	if f := e.failure(fmt.Errorf("open: %w", smaller{wgslkit.ErrOutOfMemory, hint})); f.Suggestion != hint ||
		f.Advice == "" {
		t.Errorf("%+v", f)
	}
}

func TestBrokenMessages(t *testing.T) {
	var got []Reply
	e := New(Options{Post: func(r Reply) { got = append(got, r) }})
	for _, raw := range []string{"", "{", "[]", `{"id":"x"}`, `{"id":1e99}`} {
		e.Handle([]byte(raw), nil, nil)
	}
	if len(got) != 5 {
		t.Fatalf("%d replies", len(got))
	}
	for _, r := range got {
		if r.Error == nil || r.Error.Code != CodeInternal {
			t.Errorf("%+v", r)
		}
	}
}

func TestMemory(t *testing.T) {
	p := newPage(t)
	if m := p.must(OpMemory, ModelParams{Model: p.open().Model}).(MemoryResult); m.Heap == 0 || m.System < m.Heap {
		t.Errorf("%+v", m)
	}
}

// TestMendedCall: a page hears what had to be mended of a call.
func TestMendedCall(t *testing.T) {
	var told []Reply
	a := answer{call: &call{engine: &Engine{options: Options{Post: func(r Reply) { told = append(told, r) }}}}}
	call := chat.ToolCall{ID: "call_1", Name: "f", Arguments: json.RawMessage("{}")}
	for _, repairs := range [][]string{{"a } was missing"}, nil} {
		if err := a.take(gemma4.Event{Event: chat.Event{Kind: chat.CallEvent, Call: call, Repairs: repairs}}); err != nil {
			t.Fatal(err)
		}
		if e, ok := told[len(told)-1].Event.(ChatEvent); !ok || !slices.Equal(e.Repairs, repairs) || e.Call.Name != "f" {
			t.Errorf("%+v", told)
		}
	}
}

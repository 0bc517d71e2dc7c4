package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gemwire/gemwire/bindings/c/internal/samples"
	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/multimodal/fault"
)

const (
	capital = "What is the capital of France?"
	paris   = "The capital of France is Paris."
	story   = "Tell me a story about a dog."
)

// desk is an engine with the built-in model on the CPU and a session.
type desk struct {
	*testing.T
	Engine
	model, session Handle
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{T: t}
	var err error
	if d.model, err = d.OpenModel(t.Context(), "", OpenOptions{Device: gemma4.DeviceCPU, Context: 512}); err != nil {
		t.Fatal(err)
	}
	if d.session, err = d.OpenSession(d.model, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, ok := d.find(d.model); ok {
			if err := d.Close(d.model); err != nil {
				t.Error(err)
			}
		}
		if n := d.Open(); n != 0 {
			t.Errorf("%d handles are left", n)
		}
	})
	return d
}

// say says something and returns the answer, with no sampling.
func (d *desk) say(text string, media ...Medium) string {
	d.Helper()
	if _, err := d.Say(d.Context(), d.session, text, media, AnswerOptions{}); err != nil {
		d.Fatal(err)
	}
	answer, err := d.LastText(d.session)
	if err != nil {
		d.Fatal(err)
	}
	return answer
}

func (d *desk) want(err error, kind fault.Kind) {
	d.Helper()
	if got := FailureOf(err); got.Kind != kind {
		d.Errorf("%+v, want %s", got, kind)
	}
}

func TestSay(t *testing.T) {
	d := newDesk(t)
	for _, turn := range [][2]string{
		{"My name is Ada.", "Nice to meet you, Ada!"},
		{"What is my name?", "Your name is Ada."},
	} {
		if got := d.say(turn[0]); got != turn[1] {
			t.Errorf("%q: %q", turn[0], got)
		}
	}
	if err := d.Reset(d.session); err != nil {
		t.Fatal(err)
	}
	if got := d.say("What is my name?"); strings.Contains(got, "Ada") {
		t.Errorf("after a reset: %q", got)
	}
}

// A failure leaves the conversation as it was; a cancelled answer stays.
func TestSayAfterFailure(t *testing.T) {
	d := newDesk(t)
	d.say("My name is Ada.")
	_, err := d.Say(t.Context(), d.session, "Look", []Medium{{Type: chat.Image, Data: []byte("no image")}},
		AnswerOptions{})
	d.want(err, fault.BadMedia)
	_, err = d.Say(t.Context(), d.session, strings.Repeat("word ", 600), nil, AnswerOptions{})
	d.want(err, fault.ContextFull)
	r, err := d.Say(t.Context(), d.session, story, nil,
		AnswerOptions{Event: func(e Event) bool { return e.Kind != TextEvent }})
	d.want(err, fault.Cancelled)
	if r.Reason != chat.ReasonCancelled || r.Usage.Answer == 0 || r.Usage.Prompt == 0 {
		t.Errorf("%+v", r)
	}
	s := d.open[d.session].(*session)
	if n := len(s.talk.Messages()); n != 4 || s.talk.Messages()[3].Content.String() == "" {
		t.Errorf("the conversation has %d messages: %+v", n, s.talk.Messages())
	}
}

func TestEvents(t *testing.T) {
	d := newDesk(t)
	var kinds []EventKind
	text, tokens := "", 0
	r, err := d.Say(t.Context(), d.session, capital, nil, AnswerOptions{Event: func(e Event) bool {
		if len(kinds) == 0 || kinds[len(kinds)-1] != e.Kind {
			kinds = append(kinds, e.Kind)
		}
		text += e.Text
		tokens += len(e.Tokens)
		return true
	}})
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(kinds) != fmt.Sprint([]EventKind{PrefillEvent, TextEvent, DoneEvent}) || text != paris {
		t.Errorf("%v: %q", kinds, text)
	}
	if r.Reason != chat.ReasonStop || r.Usage.Answer != tokens || r.Usage.Computed != r.Usage.Prompt ||
		r.Usage.PrefillTime <= 0 {
		t.Errorf("%d tokens: %+v", tokens, r)
	}
}

func TestTools(t *testing.T) {
	d := newDesk(t)
	tools, err := ParseTools(`[{"type":"function","function":{"name":"get_weather","description":"Get the weather ` +
		`in a city",` +
		`"parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}]`)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := ParseMessages(`[{"role":"user","content":"What is the weather in Vienna?"}]`)
	if err != nil {
		t.Fatal(err)
	}
	var call chat.ToolCall
	options := AnswerOptions{Tools: tools, Event: func(e Event) bool {
		if e.Kind == ToolCallEvent {
			call = e.Call
		}
		return true
	}}
	r, err := d.Chat(t.Context(), d.session, messages, nil, options)
	if err != nil || r.Reason != chat.ReasonToolCalls || call.Name != "get_weather" ||
		string(call.Arguments) != `{"city":"Vienna"}` {
		t.Fatalf("%+v %+v %v", r, call, err)
	}
	answer, err := d.LastMessage(d.session)
	if err != nil {
		t.Fatal(err)
	}
	cut := options
	cut.Calls, cut.MaxTokens = gemma4.ParseCalls("required"), 3
	if torn, err := d.Chat(t.Context(), d.session, messages, nil, cut); err != nil || !torn.InCall || r.InCall {
		t.Errorf("cut within a call: %+v %v", torn, err)
	}
	next, err := ParseMessages(fmt.Sprintf(`[{"role":"user","content":"What is the weather in Vienna?"},%s,`+
		`{"role":"tool","tool_call_id":%q,"content":"sunny"}]`, answer, call.ID))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Chat(t.Context(), d.session, next, nil, options); err != nil {
		t.Fatal(err)
	}
	if got, _ := d.LastText(d.session); !strings.Contains(got, "in Vienna") {
		t.Errorf("it says %q", got)
	}
}

func TestGenerate(t *testing.T) {
	d := newDesk(t)
	prompt := "<|turn>user\n" + capital + "<turn|>\n<|turn>model\n"
	for _, text := range []string{prompt, "<bos>" + prompt} {
		if _, err := d.Generate(t.Context(), d.session, text, AnswerOptions{}); err != nil {
			t.Fatal(err)
		}
		if got, _ := d.LastText(d.session); got != paris {
			t.Errorf("%q", got)
		}
	}
}

func readSample(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../../testdata/conformance/nano", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestMedia(t *testing.T) {
	d := newDesk(t)
	const black = "A black square and a yellow triangle on a green background."
	picture := Medium{Type: chat.Image, Data: readSample(t, "scene3.png")}
	if got := d.say("What is in this picture?", picture); got != black {
		t.Errorf("%q", got)
	}
	if err := d.ReleaseMedia(d.model); err != nil {
		t.Fatal(err)
	}
	messages, err := ParseMessages(`[{"role":"user","content":[{"type":"audio"},{"type":"text","text":"Transcribe this ` +
		`audio."}]}]`)
	if err != nil {
		t.Fatal(err)
	}
	clip := Medium{Type: chat.Audio, Data: readSample(t, "speech0.wav")}
	if _, err := d.Chat(t.Context(), d.session, messages, []Medium{clip}, AnswerOptions{}); err != nil {
		t.Fatal(err)
	}
	if got, _ := d.LastText(d.session); got != "cross five" {
		t.Errorf("%q", got)
	}
}

// TestMisplacedMedia gives media that do not suit their messages.
func TestMisplacedMedia(t *testing.T) {
	d := newDesk(t)
	picture := Medium{Type: chat.Image, Data: []byte("x")}
	for name, c := range map[string]struct {
		content string
		media   []Medium
		want    fault.Kind
	}{
		"too many":        {`"Hi"`, []Medium{picture}, fault.BadArgument},
		"too few":         {`[{"type":"image"}]`, nil, fault.BadArgument},
		"of another kind": {`[{"type":"audio"}]`, []Medium{picture}, fault.BadArgument},
		"of no kind":      {`[{"type":"image"}]`, []Medium{{Data: []byte("x")}}, fault.BadArgument},
		"empty":           {`[{"type":"image"}]`, []Medium{{Type: chat.Image}}, fault.BadMedia},
		"damaged":         {`[{"type":"image"}]`, []Medium{picture}, fault.BadMedia},
		"elsewhere": {`[{"type":"image_url","image_url":{"url":"https://example.org/x.png"}}]`, nil,
			fault.BadMedia},
		"a bad budget": {`[{"type":"image"}]`,
			[]Medium{{Type: chat.Image, Data: readSample(t, "scene0.png"), Budget: 3}}, fault.BadArgument},
	} {
		t.Run(name, func(t *testing.T) {
			messages, err := ParseMessages(`[{"role":"user","content":` + c.content + `}]`)
			if err != nil {
				t.Fatal(err)
			}
			_, err = d.Chat(t.Context(), d.session, messages, c.media, AnswerOptions{})
			if got := FailureOf(err); got.Kind != c.want {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestReentry calls from an answer's callback whatever could wait for it.
func TestReentry(t *testing.T) {
	d := newDesk(t)
	other, err := d.OpenSession(d.model, 0)
	if err != nil {
		t.Fatal(err)
	}
	tried := false
	_, err = d.Say(t.Context(), d.session, capital, nil, AnswerOptions{Event: func(e Event) bool {
		if e.Kind != TextEvent || tried {
			return true
		}
		tried = true
		_, err := d.Say(t.Context(), d.session, "Hi", nil, AnswerOptions{})
		d.want(err, fault.Busy)
		d.want(d.Reset(d.session), fault.Busy)
		d.want(d.SetSystem(d.session, "x"), fault.Busy)
		d.want(d.UseAdapters(t.Context(), d.model, nil), fault.Busy)
		if _, err := d.Say(t.Context(), other, capital, nil, AnswerOptions{}); err != nil {
			t.Error(err)
		}
		if got, _ := d.LastText(other); got != paris {
			t.Errorf("the other session: %q", got)
		}
		if err := d.Close(other); err != nil {
			t.Error(err)
		}
		return true
	}})
	if err != nil || !tried {
		t.Fatal(err)
	}
	if got, _ := d.LastText(d.session); got != paris {
		t.Errorf("%q", got)
	}
}

// TestCloseWhileAnswering closes a model from an answer's own callback.
func TestCloseWhileAnswering(t *testing.T) {
	d := newDesk(t)
	m := d.open[d.model].(*model).Model
	_, err := d.Say(t.Context(), d.session, story, nil, AnswerOptions{Event: func(e Event) bool {
		if e.Kind == TextEvent {
			if err := d.Close(d.model); err != nil && FailureOf(err).Kind != BadHandle {
				t.Error(err)
			}
			if _, err := m.NewSession(1); err != nil {
				t.Errorf("it is released under its answer: %v", err)
			}
		}
		return true
	}})
	d.want(err, fault.Closed)
	_, err = d.LastText(d.session)
	d.want(err, BadHandle)
}

func TestCloseReleases(t *testing.T) {
	d := newDesk(t)
	m := d.open[d.model].(*model).Model
	if err := d.Close(d.model); err != nil {
		t.Fatal(err)
	}
	if _, err := m.NewSession(1); !errors.Is(err, gemma4.ErrClosed) {
		t.Errorf("the model is still open: %v", err)
	}
	d.want(d.Close(d.model), BadHandle)
	d.want(d.Close(d.session), BadHandle)
	d.want(d.Cancel(d.session), BadHandle)
}

// TestCancelElsewhere cancels from other goroutines, sessions and models alike,
// while answers come and go.
func TestCancelElsewhere(t *testing.T) {
	d := newDesk(t)
	other, err := d.OpenSession(d.model, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range []Handle{d.session, d.model} {
		var group sync.WaitGroup
		for _, s := range []Handle{d.session, other} {
			once := sync.OnceFunc(func() {
				if s == d.session {
					group.Go(func() {
						if err := d.Cancel(target); err != nil {
							t.Error(err)
						}
					})
				}
			})
			group.Go(func() {
				_, err := d.Say(t.Context(), s, story, nil,
					AnswerOptions{GenerateOptions: gemma4.GenerateOptions{MaxTokens: 200}, Event: func(e Event) bool {
						if e.Kind == TextEvent {
							once()
						}
						return true
					}})
				if s == d.session {
					d.want(err, fault.Cancelled)
				}
			})
		}
		group.Wait()
	}
}

func TestAdapters(t *testing.T) {
	d := newDesk(t)
	a, err := samples.Adapter()
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "nonsense")
	if err := a.Save(folder); err != nil {
		t.Fatal(err)
	}
	if err := d.LoadAdapter(t.Context(), d.model, "nonsense", folder); err != nil {
		t.Fatal(err)
	}
	d.want(d.LoadAdapter(t.Context(), d.model, "nonsense", folder), fault.BadAdapter)
	d.want(d.LoadAdapter(t.Context(), d.model, "none", folder+"-not"), fault.NotFound)
	d.want(d.UseAdapters(t.Context(), d.model, map[string]float32{"other": 1}), fault.BadAdapter)
	if err := d.UseAdapters(t.Context(), d.model, map[string]float32{"nonsense": 0.5}); err != nil {
		t.Fatal(err)
	}
	list, err := d.Adapters(d.model)
	if err != nil || !strings.Contains(string(list), `"weight":0.5`) {
		t.Errorf("%s %v", list, err)
	}
	if _, err := d.Say(t.Context(), d.session, capital, nil,
		AnswerOptions{GenerateOptions: gemma4.GenerateOptions{MaxTokens: 12}}); err != nil {
		t.Fatal(err)
	}
	if got, _ := d.LastText(d.session); got == paris {
		t.Error("the adapter changes nothing")
	}
	if err := errors.Join(d.UseAdapters(t.Context(), d.model, nil), d.Reset(d.session),
		d.UnloadAdapter(d.model, "nonsense")); err != nil {
		t.Fatal(err)
	}
	if got := d.say(capital); got != paris {
		t.Errorf("without it: %q", got)
	}
}

func TestOpenFails(t *testing.T) {
	var e Engine
	broken := filepath.Join(t.TempDir(), "broken.gguf")
	if err := os.WriteFile(broken, []byte("no model at all, but long enough"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path    string
		options OpenOptions
		want    fault.Kind
	}{
		{"nowhere.gguf", OpenOptions{}, fault.NotFound},
		{broken, OpenOptions{}, fault.BadFile},
		{t.TempDir(), OpenOptions{}, fault.BadFile},
		{"http://127.0.0.1:1/x.gguf", OpenOptions{}, fault.Network},
		{"", OpenOptions{Device: gemma4.DeviceCPU, Context: 1 << 30}, fault.Unsupported},
		{"", OpenOptions{Device: gemma4.DeviceCPU, Context: -1}, fault.Unsupported},
		{"", OpenOptions{MemoryBudget: -1}, fault.BadArgument},
		{"", OpenOptions{Projector: "x.gguf"}, fault.BadArgument},
		{"", OpenOptions{Device: gemma4.DeviceCPU, ImageBudget: 7}, fault.BadArgument},
		{"", OpenOptions{Device: gemma4.DeviceCPU, Assistant: "nowhere.gguf"}, fault.NotFound},
		{"", OpenOptions{Device: gemma4.DeviceCPU, Assistant: BuiltIn}, fault.Unsupported},
		{"", OpenOptions{Device: gemma4.DeviceCPU, Assistant: assistantPath}, fault.Unsupported}, // another model's
		{BuiltIn, OpenOptions{Device: gemma4.DeviceCPU, Progress: func(gemma4.Progress) bool { return false }},
			fault.Cancelled},
		{BuiltIn, OpenOptions{Device: gemma4.DeviceCPU, Progress: func(p gemma4.Progress) bool { return p.Done == 0 }},
			fault.Cancelled},
	} {
		h, err := e.OpenModel(t.Context(), c.path, c.options)
		f := FailureOf(err)
		if h != 0 || f.Kind != c.want || len(f.Message) < 10 || strings.Contains(f.Message, "\n") {
			t.Errorf("%s %+v: handle %d, %+v", c.path, c.options, h, f)
		}
	}
	if n := e.Open(); n != 0 {
		t.Errorf("%d handles are left", n)
	}
}

const assistantPath = "../../../testdata/conformance/assistant/assistant.gguf"

// An assistant guesses, and answers stay what they are.
func TestAssistant(t *testing.T) {
	var e Engine
	texts := map[int]string{}
	for _, drafts := range []int{0, gemma4.NoDrafts} {
		h, err := e.OpenModel(t.Context(), "../../../testdata/conformance/e2b.gguf", OpenOptions{
			Device: gemma4.DeviceCPU, Context: 256, Assistant: assistantPath,
		})
		if err != nil {
			t.Fatal(err)
		}
		raw, err := e.ModelInfo(h)
		if err != nil || !strings.Contains(string(raw), `"assistant":"`) {
			t.Errorf("%s, %v", raw, err)
		}
		s, err := e.OpenSession(h, 0)
		if err != nil {
			t.Fatal(err)
		}
		r, err := e.Generate(t.Context(), s, "Why is the sky blue?",
			AnswerOptions{GenerateOptions: gemma4.GenerateOptions{MaxTokens: 40, Drafts: drafts}})
		if err != nil {
			t.Fatal(err)
		}
		if u := r.Usage; (u.Assisted > 0) != (drafts == 0) || u.Assisted > u.Drafted || u.AssistedRight > u.Assisted {
			t.Errorf("drafts %d: %+v", drafts, u)
		}
		if texts[drafts], err = e.LastText(s); err != nil {
			t.Error(err)
		}
		if err := e.Close(h); err != nil {
			t.Error(err)
		}
	}
	if texts[0] != texts[gemma4.NoDrafts] || texts[0] == "" {
		t.Errorf("with an assistant %q, without %q", texts[0], texts[gemma4.NoDrafts])
	}
}

func TestMistakes(t *testing.T) {
	d := newDesk(t)
	_, err := d.OpenSession(d.session, 0)
	d.want(err, BadHandle)
	_, err = d.Say(t.Context(), d.model, "Hi", nil, AnswerOptions{})
	d.want(err, BadHandle)
	_, err = d.OpenSession(d.model, 1<<30)
	d.want(err, fault.Unsupported)
	_, err = d.LastMessage(d.session)
	d.want(err, fault.BadArgument)
	_, err = d.Detokenize(d.model, []int{-1})
	d.want(err, fault.BadArgument)
	var o AnswerOptions
	o.Sampling.TopP = 7
	_, err = d.Say(t.Context(), d.session, "Hi", nil, o)
	d.want(err, fault.BadArgument)
	for _, text := range []string{"{", "{}", "[1]", `[{"content":"x"}]`, "", "[]"} {
		messages, err := ParseMessages(text)
		if err == nil {
			_, err = d.Chat(t.Context(), d.session, messages, nil, AnswerOptions{})
		}
		d.want(err, fault.BadArgument)
	}
	if _, err := ParseTools(`[{"type":"function"}]`); FailureOf(err).Kind != fault.BadArgument {
		t.Error(err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = d.Say(cancelled, d.session, "Hi", nil, AnswerOptions{})
	d.want(err, fault.Cancelled)
}

func TestLastFailure(t *testing.T) {
	d := newDesk(t)
	if f, ok := d.LastFailure(d.model); !ok || f != (Failure{}) {
		t.Errorf("%+v %v", f, ok)
	}
	if !d.Note(d.model, gemma4.ErrBusy) || d.Note(d.model+100, gemma4.ErrBusy) {
		t.Error("failures are kept for what is open, and for nothing else")
	}
	if f, _ := d.LastFailure(d.model); f.Kind != fault.Busy {
		t.Errorf("%+v", f)
	}
}

func TestLog(t *testing.T) {
	var e Engine
	var lines []string
	e.SetLog(func(level Level, line string) { lines = append(lines, fmt.Sprint(level, " ", line)) })
	h, err := e.OpenModel(t.Context(), "", OpenOptions{Device: gemma4.DeviceCPU})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(h); err != nil {
		t.Fatal(err)
	}
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "1 Nano is open on CPU") {
		t.Errorf("%q", lines)
	}
}

func TestInfo(t *testing.T) {
	d := newDesk(t)
	raw, err := d.ModelInfo(d.model)
	if err != nil {
		t.Fatal(err)
	}
	var info struct {
		Device        string
		Context       int
		Images, Audio bool
	}
	if err := json.Unmarshal(raw, &info); err != nil || info.Device != "cpu" || info.Context != 512 || !info.Images ||
		!info.Audio {
		t.Errorf("%s %v", raw, err)
	}
	ids, err := d.Tokenize(d.model, "Grüße, 世界!<turn|>", false)
	if err != nil {
		t.Fatal(err)
	}
	special, _ := d.Tokenize(d.model, "Grüße, 世界!<turn|>", true)
	if text, _ := d.Detokenize(d.model, ids); text != "Grüße, 世界!<turn|>" || len(special) >= len(ids) {
		t.Errorf("%q, %d tokens and %d", text, len(ids), len(special))
	}
}

func TestBench(t *testing.T) {
	var e Engine
	heat := 0
	raw, err := e.Bench(t.Context(), BenchOptions{
		PromptTokens: 64, DecodeTokens: 8, Repeats: 2, Open: OpenOptions{Device: gemma4.DeviceCPU, Context: 256},
		Thermal: func() int { heat++; return heat },
	})
	if err != nil {
		t.Fatal(err)
	}
	var r BenchReport
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	if r.Prefill.Tokens != 64 || r.Decode.Tokens != 8 || len(r.Decode.Seconds) != 2 || r.Decode.TokensPerSecond <= 0 ||
		r.Load.Seconds <= 0 || r.Thermal.Slowdown < 1 || len(r.Thermal.States) != 4 || r.Model == "" || e.Open() != 0 {
		t.Errorf("%s", raw)
	}
	_, err = e.Bench(t.Context(), BenchOptions{Repeats: -1})
	if f := FailureOf(err); f.Kind != fault.BadArgument {
		t.Errorf("%+v", f)
	}
	_, err = e.Bench(t.Context(), BenchOptions{Open: OpenOptions{Device: gemma4.DeviceCPU},
		Progress: func(int, int) bool { return false }})
	if f := FailureOf(err); f.Kind != fault.Cancelled || e.Open() != 0 {
		t.Errorf("%+v", f)
	}
}

func TestHottest(t *testing.T) {
	root := t.TempDir()
	if got := hottest(root); got != 0 {
		t.Errorf("%v without a sensor", got)
	}
	for name, text := range map[string]string{"thermal_zone0": "41000\n", "thermal_zone1": "62500\n",
		"thermal_zone2": "nonsense", "other": "99000"} {
		if err := os.MkdirAll(filepath.Join(root, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name, "temp"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := hottest(root); got != 62.5 {
		t.Errorf("%v °C", got)
	}
}

// TestMendedCall: a caller hears what had to be mended of a call.
func TestMendedCall(t *testing.T) {
	var g gathered
	newID := func() string { return "call_1" }
	call := chat.ToolCall{Name: "f"}
	mended := chat.Event{Kind: chat.CallEvent, Call: call, Repairs: []string{"a } was missing"}}
	e := g.take(gemma4.Event{Event: mended}, newID)
	if e.Kind != ToolCallEvent || e.Call.ID != "call_1" || !slices.Equal(e.Repairs, []string{"a } was missing"}) {
		t.Errorf("%+v", e)
	}
	if e := g.take(gemma4.Event{Event: chat.Event{Kind: chat.CallEvent, Call: call}}, newID); e.Repairs != nil {
		t.Errorf("%+v", e)
	}
}

package gemma4_test

import (
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/sample"
)

// said is what an answer to a prompt as it is brings.
type said struct {
	text, thought string
	tokens        []int32
	last          gemma4.Event
}

// generator is a session or a batch.
type generator interface {
	Generate(context.Context, gemma4.Prompt, gemma4.GenerateOptions) iter.Seq2[gemma4.Event, error]
}

func say(t *testing.T, s generator, prompt []int32, opts gemma4.GenerateOptions) (out said) {
	t.Helper()
	for e, err := range s.Generate(t.Context(), gemma4.Tokens(prompt), opts) {
		if err != nil {
			t.Fatal(err)
		}
		switch e.Kind {
		case chat.TextEvent:
			out.text += e.Text
		case chat.ThinkingEvent:
			out.thought += e.Text
		}
		for _, c := range e.Tokens {
			out.tokens = append(out.tokens, c.Token)
		}
		out.last = e
	}
	return out
}

// A thought is ended where its budget is spent; what follows is what would follow a thought of
// just that text, and only the end of it is computed for that.
func TestThinkingBudget(t *testing.T) {
	mostlyOnTheCPU(t, func(t *testing.T, opts gemma4.OpenOptions) {
		m := open(t, nanoPath, opts)
		thinking, err := m.Template().ThinkingIn(m.Tokenizer(), nil)
		if err != nil {
			t.Fatal(err)
		}
		prompt := slices.Concat(readNanoCases(t)[6].IDs, []int32{int32(thinking.Open)})
		for _, id := range m.Tokenizer().Encode("thought\nWhat do I know? ") {
			prompt = append(prompt, int32(id))
		}
		goOn := sample.Params{LogitBias: map[int32]float32{int32(thinking.Close): -1000}} // it would end too early
		for _, id := range m.Tokenizer().EOG() {
			goOn.LogitBias[int32(id)] = -1000
		}
		s := newSession(t, m, 0)
		for _, budget := range []int{1, 7} {
			o := gemma4.GenerateOptions{Sampling: goOn, ThinkingBudget: budget, MaxTokens: budget + 20}
			got := say(t, s, prompt, o)
			if n := slices.Index(got.tokens, int32(thinking.Close)); n != budget {
				t.Fatalf("with a budget of %d, the thought ends at %d: %v", budget, n, got.tokens)
			}
			u := got.last.Usage
			if u.Forced != 1 || u.Answer != len(got.tokens) || u.Answer > o.MaxTokens || u.Prompt != len(prompt) ||
				u.Computed > len(prompt) || got.last.Kind != chat.DoneEvent {
				t.Errorf("%d tokens, the last event is %+v with %+v", len(got.tokens), got.last, u)
			}
			closed := slices.Concat(prompt, got.tokens[:budget+1])
			want := say(t, newSession(t, m, 0), closed, gemma4.GenerateOptions{Sampling: goOn, MaxTokens: 19})
			if got.text != want.text || !equal(got.tokens[budget+1:], want.tokens) {
				t.Errorf("behind the thought it says %q, to a thought of that text %q", got.text, want.text)
			}
		}
		if got := say(t, s, prompt, gemma4.GenerateOptions{Sampling: goOn, ThinkingBudget: 5,
			MaxTokens: 5}); len(got.tokens) != 5 ||
			got.last.Reason != chat.ReasonLength {
			t.Errorf("5 tokens of a thought of 5: %v, %v", got.tokens, got.last.Reason)
		}
		if got := say(t, s, readNanoCases(t)[6].IDs, gemma4.GenerateOptions{ThinkingBudget: 1}); got.thought != "" ||
			!equal(got.tokens, readNanoCases(t)[6].Greedy) {
			t.Errorf("without a thought it says %q", got.text)
		}
	})
}

// In a batch, thoughts and repetitions are bounded as in a session, and DRY sees the same breakers.
func TestLimitsInABatch(t *testing.T) {
	m := open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceCPU, Context: 256})
	b := newBatch(t, m, gemma4.BatchOptions{Streams: 2, Context: 256})
	thinking, err := m.Template().ThinkingIn(m.Tokenizer(), nil)
	if err != nil {
		t.Fatal(err)
	}
	prompt := slices.Concat(readNanoCases(t)[6].IDs, []int32{int32(thinking.Open)})
	word := int32(m.Tokenizer().Encode(" word")[0])
	for name, opts := range map[string]gemma4.GenerateOptions{
		"a budget": {Sampling: sample.Params{LogitBias: map[int32]float32{word: 1000}}, ThinkingBudget: 9, MaxTokens: 30},
		"a guard":  {Sampling: sample.Params{LogitBias: map[int32]float32{word: 1000}}, RepetitionGuard: 20},
		"DRY":      {Sampling: sample.Params{DryMultiplier: 3, DryAllowedLength: 1}, MaxTokens: 40},
	} {
		want, got := say(t, newSession(t, m, 0), prompt, opts), say(t, b, prompt, opts)
		if !equal(got.tokens, want.tokens) || got.last.Reason != want.last.Reason || got.thought != want.thought ||
			got.last.Usage.Forced != want.last.Usage.Forced {
			t.Errorf("%s: %v, %+v; in a session %v, %+v", name, got.tokens, got.last, want.tokens, want.last)
		}
	}
}

// A form is kept behind a thought that was ended.
func TestThinkingBudgetBeforeAForm(t *testing.T) {
	m := open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceCPU, Context: 1024})
	thinking, err := m.Template().ThinkingIn(m.Tokenizer(), nil)
	if err != nil {
		t.Fatal(err)
	}
	prompt := slices.Concat(readNanoCases(t)[6].IDs, []int32{int32(thinking.Open)})
	got := say(t, newSession(t, m, 0), prompt, gemma4.GenerateOptions{ThinkingBudget: 4,
		Form: &gemma4.Form{Choices: []string{"Lima", "Quito"}}})
	if got.text != "Lima" && got.text != "Quito" {
		t.Errorf("it says %q behind %q", got.text, got.thought)
	}
}

// The model thinks once, also where the prompt only wishes for a thought: behind the end of its
// budget comes what the form holds, whatever came in earlier turns.
func TestThinkingBudgetOfAWishBeforeAForm(t *testing.T) {
	m := open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceCPU, Context: 1024})
	thinking, err := m.Template().ThinkingIn(m.Tokenizer(), nil)
	if err != nil {
		t.Fatal(err)
	}
	thinks := sample.Params{LogitBias: map[int32]float32{int32(thinking.Open): 1000, int32(thinking.Close): -1000}}
	first := user("Hi")
	first.Options.EnableThinking = true
	later := user("Hi")
	later.Options.EnableThinking = true
	later.Messages = append(later.Messages,
		chat.Message{Role: chat.Assistant, Reasoning: "Hm.", Content: chat.Text("Hello.")},
		chat.Message{Role: chat.User, Content: chat.Text("Hi")})
	s, b := newSession(t, m, 0), newBatch(t, m, gemma4.BatchOptions{Streams: 2, Context: 1024})
	for name, form := range map[string]gemma4.Form{
		"choices": {Choices: []string{"Lima", "Quito"}},
		"a regex": {Regex: "[a-z]{3}"},
		"JSON": {Schema: `{"type": "object", "properties": {"name": {"enum": ["a", "b"]}},
			"required": ["name"], "additionalProperties": false}`},
		"a call": *gemma4.ParseCalls("get_time").Form(weather()),
	} {
		for _, budget := range []int{1, 2, 3, 4, 12} {
			for turns, conversation := range [][]chat.Message{first.Messages, later.Messages} {
				prompt, err := s.EncodeChat(t.Context(), chat.Conversation{Messages: conversation, Options: first.Options})
				if err != nil {
					t.Fatal(err)
				}
				opts := gemma4.GenerateOptions{Sampling: thinks, ThinkingBudget: budget, Form: &form, MaxTokens: 100}
				for where, by := range map[string]generator{"a session": s, "a batch": b} {
					got := say(t, by, prompt.Tokens, opts)
					opened := 0
					for _, token := range got.tokens {
						if int(token) == thinking.Open {
							opened++
						}
					}
					if opened != 1 || slices.Index(got.tokens, int32(thinking.Close)) != budget+1 ||
						got.last.Reason == chat.ReasonLength {
						t.Errorf("%s in %s, a budget of %d, %d messages before: %d thoughts, then %q, ended by %v", name, where,
							budget, 2*turns, opened, got.text, got.last.Reason)
					}
				}
			}
		}
	}
}

// What says one thing over and over again is ended, with a reason of its own.
func TestRepetitionGuard(t *testing.T) {
	m := open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceCPU, Context: 1024})
	s, prompt := newSession(t, m, 0), readNanoCases(t)[6].IDs
	word := int32(m.Tokenizer().Encode(" word")[0])
	opts := gemma4.GenerateOptions{Sampling: sample.Params{LogitBias: map[int32]float32{word: 1000}}, MaxTokens: 200,
		RepetitionGuard: 40}
	got := say(t, s, prompt, opts)
	if got.last.Reason != chat.ReasonRepetition || len(got.tokens) != 40 || !strings.Contains(got.text, "word") {
		t.Errorf("%d tokens, ended by %v: %q", len(got.tokens), got.last.Reason, got.text)
	}
	opts.RepetitionGuard = 0
	if got := say(t, s, prompt, opts); got.last.Reason != chat.ReasonLength || len(got.tokens) != 200 {
		t.Errorf("without a guard: %d tokens, ended by %v", len(got.tokens), got.last.Reason)
	}
	opts.Sampling.LogitBias, opts.RepetitionGuard = nil, 8
	if got := say(t, s, prompt, opts); got.last.Reason != chat.ReasonStop {
		t.Errorf("an answer that repeats nothing is ended by %v", got.last.Reason)
	}
}

// No number of tokens is so large, or so small, that something else than an answer or a clear
// error comes of it.
func TestLimitsOfAnySize(t *testing.T) {
	m := open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceCPU, Context: 256})
	s, prompt := newSession(t, m, 0), readNanoCases(t)[6].IDs
	for _, n := range []int{math.MaxInt, math.MaxInt - 1, math.MaxInt32, 1 << 40} {
		opts := gemma4.GenerateOptions{MaxTokens: n, ThinkingBudget: n, RepetitionGuard: n,
			Sampling: sample.Params{TopK: n, RepeatLastN: n, RepetitionPenalty: 1.0001}}
		if got := say(t, s, prompt, opts); got.last.Reason != chat.ReasonStop {
			t.Errorf("limits of %d: %v", n, got.last)
		}
		if _, err := m.NewSession(n); !errors.Is(err, gemma4.ErrUnsupported) {
			t.Errorf("a session of %d tokens: %v", n, err)
		}
	}
	for _, n := range []int{-1, math.MinInt} {
		for name, opts := range map[string]gemma4.GenerateOptions{
			"max-tokens": {MaxTokens: n}, "thinking-budget": {ThinkingBudget: n}, "repetition-guard": {RepetitionGuard: n},
		} {
			for _, err := range s.Generate(t.Context(), gemma4.Tokens(prompt), opts) {
				if !errors.Is(err, sample.ErrParams) || !strings.Contains(err.Error(), name) {
					t.Errorf("%s of %d: %v", name, n, err)
				}
			}
		}
		if _, err := m.NewSession(n); !errors.Is(err, gemma4.ErrUnsupported) {
			t.Errorf("a session of %d tokens: %v", n, err)
		}
	}
}

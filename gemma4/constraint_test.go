package gemma4_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/grammar"
	"github.com/gemwire/gemwire/gemma4/sample"
)

const personSchema = `{"type": "object", "properties": {"first name": {"type": "string", "maxLength": 20},
	"how old are you": {"type": "integer", "minimum": 0, "maximum": 150}, "likes": {"enum": ["tea", "coffee"]}},
	"required": ["first name", "how old are you", "likes"], "additionalProperties": false}`

func TestAnswersKeepTheirForm(t *testing.T) {
	warm := sample.Params{Temperature: 1.5, Seed: 5}
	penalties := sample.Params{Temperature: 0.8, TopK: 40, RepetitionPenalty: 1.2, FrequencyPenalty: 0.1, Seed: 2}
	validJSON := func(text string) bool { return json.Valid([]byte(text)) }
	person := func(text string) bool {
		var p struct {
			Name  *string `json:"first name"`
			Age   *int    `json:"how old are you"`
			Likes string  `json:"likes"`
		}
		d := json.NewDecoder(strings.NewReader(text))
		d.DisallowUnknownFields()
		return d.Decode(&p) == nil && p.Name != nil && p.Age != nil && *p.Age >= 0 && *p.Age <= 150 &&
			(p.Likes == "tea" || p.Likes == "coffee")
	}
	type formCase struct {
		name  string
		form  gemma4.Form
		whole bool // the form alone ends the answer
		fits  func(text string) bool
	}
	cases := []formCase{
		{"schema", gemma4.Form{Schema: personSchema}, true, person},
		{"JSON", gemma4.Form{JSON: true}, false, validJSON},
		{"regex", gemma4.Form{Regex: `[A-Z][a-z]{2,9}, [0-9]{4}-[0-9]{2}`}, true,
			regexp.MustCompile(`^[A-Z][a-z]{2,9}, [0-9]{4}-[0-9]{2}$`).MatchString},
		{"choice", gemma4.Form{Choices: []string{"a red house", "a green house"}}, true,
			func(text string) bool { return text == "a red house" || text == "a green house" }},
		{"grammar", gemma4.Form{Grammar: `root ::= "yes, " [a-z]{3} " and no"`}, true,
			regexp.MustCompile(`^yes, [a-z]{3} and no$`).MatchString},
	}
	onEachDevice(t, func(t *testing.T, opts gemma4.OpenOptions) {
		s := newSession(t, open(t, nanoPath, opts), 512)
		for _, c := range cases {
			for _, params := range []sample.Params{{}, warm, penalties, {LogProbs: 2}} {
				text, last := answer(t, s, user("What is the capital of Peru?"),
					gemma4.GenerateOptions{Form: &c.form, Sampling: params, MaxTokens: 100})
				if last.Reason != chat.ReasonStop && !c.whole {
					continue // cut short
				}
				if last.Reason != chat.ReasonStop || !c.fits(text) {
					t.Errorf("%s, %+v: %q, which ended by %v", c.name, params, text, last.Reason)
				}
				if params.LogProbs > 0 && last.Usage.Forced > 0 {
					t.Errorf("%d tokens were forced, though their log-probabilities are asked for", last.Usage.Forced)
				}
			}
		}
	})
}

func constraint(t testing.TB, m *gemma4.Model, f gemma4.Form) *grammar.Constraint {
	t.Helper()
	c, err := m.Constraint(context.Background(), f)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// The tokens of a form are the same on each device, drafted or not, however often a
// session is used.
func TestFormsOnEachDevice(t *testing.T) {
	want := map[string][]int32{}
	onEachDevice(t, func(t *testing.T, opts gemma4.OpenOptions) {
		m := open(t, nanoPath, opts)
		c := constraint(t, m, gemma4.Form{Schema: personSchema})
		s, prompt := newSession(t, m, 512), repeating(m)
		s.GuessAlways()
		free := choose(t, s, prompt, gemma4.Choosing{MaxTokens: 20, Drafts: gemma4.NoDrafts})
		for name, params := range map[string]sample.Params{
			"greedy": {}, "drawn": {Temperature: 0.9, Seed: 3},
			"penalties": {Temperature: 0.5, RepetitionPenalty: 1.3, FrequencyPenalty: 0.1, RepeatLastN: 50},
		} {
			for _, drafts := range []int{gemma4.NoDrafts, 5} {
				var usage gemma4.Usage
				got := choose(t, s, prompt, gemma4.Choosing{Constraint: c, Sampling: params, Drafts: drafts, Usage: &usage,
					MaxTokens: 60})
				if want[name] == nil {
					want[name] = got
				}
				if !slices.Equal(got, want[name]) {
					t.Errorf("%s, %d drafts: %v, wanted %v", name, drafts, got, want[name])
				}
				if usage.Forced < 4 {
					t.Errorf("%s: %d tokens forced", name, usage.Forced)
				}
				if held, all := s.Tokens(), slices.Concat(prompt, got[:len(got)-1]); !slices.Equal(held, all) {
					t.Errorf("%s: the session holds %v, wanted %v", name, held, all)
				}
			}
			if got := choose(t, s, prompt, gemma4.Choosing{MaxTokens: 20, Drafts: gemma4.NoDrafts}); !slices.Equal(got,
				free) {
				t.Errorf("free again: %v, wanted %v", got, free)
			}
		}
	})
}

// What follows an answer in a form is computed from where it ended, as if it had been said freely.
func TestGoingOnBehindAForm(t *testing.T) {
	mostlyOnTheCPU(t, func(t *testing.T, opts gemma4.OpenOptions) {
		m := open(t, nanoPath, opts)
		c := constraint(t, m, gemma4.Form{Regex: `The capital of (Peru|France) is`})
		s, prompt := newSession(t, m, 512), repeating(m)
		for _, stop := range []int{1, 2, 5, 7} {
			var got []int32
			for choice, err := range s.Choose(context.Background(), gemma4.Tokens(prompt), gemma4.Choosing{Constraint: c}) {
				if err != nil {
					t.Fatal(err)
				}
				if got = append(got, choice.Token); len(got) == stop {
					break
				}
			}
			text := slices.Concat(prompt, got)
			want := choose(t, newSession(t, m, 512), text, gemma4.Choosing{MaxTokens: 12})
			if after := choose(t, s, text, gemma4.Choosing{MaxTokens: 12}); !slices.Equal(after, want) {
				t.Errorf("behind %d tokens: %v, wanted %v", stop, after, want)
			}
		}
	})
}

// A thought is free and comes first; what is held to the form is behind it.
func TestThoughtIsFree(t *testing.T) {
	mostlyOnTheCPU(t, func(t *testing.T, opts gemma4.OpenOptions) {
		m := open(t, nanoPath, opts)
		s := newSession(t, m, 512)
		id := func(text string) int32 {
			id, ok := m.Tokenizer().Lookup(text)
			if !ok {
				t.Fatalf("no token %s", text)
			}
			return int32(id)
		}
		opened, closed := id("<|channel>"), id("<channel|>")
		prompt := []int32{id("<bos>"), id("<|turn>"), id("<|think|>"), id("<turn|>"), id("<|turn>")}
		c := constraint(t, m, gemma4.Form{Choices: []string{"tea"}})
		// Wished for, begun by the model; the bias leads it in and out.
		leading := sample.Params{LogitBias: sample.Params{}.LogitBias, PresencePenalty: 90, RepeatLastN: -1}
		leading.LogitBias = map[int32]float32{opened: 80, closed: 40}
		got := choose(t, s, prompt, gemma4.Choosing{Constraint: c, Sampling: leading, MaxTokens: 40})
		at := slices.Index(got, closed)
		if got[0] != opened || at < 0 {
			t.Fatalf("%v is no thought between %d and %d", got, opened, closed)
		}
		if text := decode(t, m, got[at+1:]); text != "tea" {
			t.Errorf("behind the thought: %q", text)
		}
		// Begun by the prompt.
		got = choose(t, s, slices.Concat(prompt, []int32{opened}), gemma4.Choosing{Constraint: c, MaxTokens: 40,
			Sampling: sample.Params{LogitBias: map[int32]float32{closed: 60}, PresencePenalty: 90}})
		if got[0] != closed || decode(t, m, got[1:]) != "tea" {
			t.Errorf("%v goes on behind an open thought", got)
		}
		// Not wished for.
		got = choose(t, s, prompt[:1], gemma4.Choosing{Constraint: c, Sampling: leading, MaxTokens: 40})
		if decode(t, m, got) != "tea" {
			t.Errorf("%v holds a thought that nobody wished for", got)
		}
	})
}

func decode(t testing.TB, m *gemma4.Model, tokens []int32) string {
	t.Helper()
	d := m.Tokenizer()
	var b strings.Builder
	for _, id := range tokens {
		if !d.IsEOG(int(id)) {
			b.WriteString(strings.ReplaceAll(d.TokenText(int(id)), "▁", " "))
		}
	}
	return b.String()
}

func TestFormsRefused(t *testing.T) {
	m := open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceCPU})
	for _, c := range []struct {
		form gemma4.Form
		want error
	}{
		{gemma4.Form{}, grammar.ErrSyntax},
		{gemma4.Form{JSON: true, Regex: "a"}, grammar.ErrSyntax},
		{gemma4.Form{JSON: true, Spaced: true, Compact: true}, grammar.ErrSyntax},
		{gemma4.Form{Schema: `{"type": `}, grammar.ErrSyntax},
		{gemma4.Form{Schema: `{"enum": []}`}, grammar.ErrUnsatisfiable},
	} {
		s := newSession(t, m, 64)
		for _, err := range s.Chat(context.Background(), user("Hi"), gemma4.GenerateOptions{Form: &c.form}) {
			if !errors.Is(err, c.want) {
				t.Errorf("%+v: %v, wanted %v", c.form, err, c.want)
			}
		}
	}
	other := constraint(t, open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceCPU}), gemma4.Form{JSON: true})
	for _, err := range newSession(t, m, 64).Chat(context.Background(), user("Hi"),
		gemma4.GenerateOptions{Constraint: other}) {
		if !errors.Is(err, grammar.ErrVocabulary) {
			t.Errorf("another model's constraint: %v", err)
		}
	}
}

func TestConstraintsAreKept(t *testing.T) {
	m := open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceCPU})
	first := constraint(t, m, gemma4.Form{Regex: "a+"})
	for range 20 {
		if constraint(t, m, gemma4.Form{Regex: "a+"}) != first {
			t.Fatal("a form was compiled twice")
		}
		if constraint(t, m, gemma4.Form{Regex: "a+", Spaced: true}) == first {
			t.Fatal("another form is the same")
		}
	}
	for i := range 20 {
		constraint(t, m, gemma4.Form{Choices: []string{strings.Repeat("b", i+1)}})
	}
	if constraint(t, m, gemma4.Form{Regex: "a+"}) == first {
		t.Error("all forms are kept for ever")
	}
}

func TestFormJSON(t *testing.T) {
	for text, want := range map[string]gemma4.Form{
		`{"schema": {"type": "null"}, "compact": true}`: {Schema: `{"type": "null"}`, Compact: true},
		`{"schema": "{\"type\": \"null\"}"}`:            {Schema: `{"type": "null"}`},
		`{"choices": ["a"], "anyOrder": true}`:          {Choices: []string{"a"}, AnyOrder: true},
		`{"grammar": "root ::= [a]", "json": false}`:    {Grammar: "root ::= [a]"},
	} {
		var got gemma4.Form
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if got.Schema != want.Schema || got.Spaced != want.Spaced || got.Compact != want.Compact ||
			!slices.Equal(got.Choices, want.Choices) ||
			got.Grammar != want.Grammar || got.AnyOrder != want.AnyOrder {
			t.Errorf("%s: %+v, wanted %+v", text, got, want)
		}
	}
}

// A form that is hard to compile keeps no other waiting, is compiled once for all who ask, and for nobody who left.
func TestConstraintsAreCompiledApart(t *testing.T) {
	m := open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceCPU})
	hard := gemma4.Form{Regex: `(a|b)*a(a|b){11}c(a|b)*b(a|b){11}`}
	var all sync.WaitGroup
	made := make([]*grammar.Constraint, 4)
	for i := range made {
		all.Go(func() {
			c, err := m.Constraint(t.Context(), hard)
			if made[i] = c; err != nil {
				t.Error(err)
			}
		})
	}
	for i := range 5 {
		if _, err := m.Constraint(t.Context(), gemma4.Form{Choices: []string{fmt.Sprint(i)}}); err != nil {
			t.Error(err)
		}
	}
	all.Wait()
	for _, c := range made {
		if c != made[0] {
			t.Error("compiled twice")
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Constraint(ctx, gemma4.Form{Regex: "left"}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if _, err := m.Constraint(t.Context(), gemma4.Form{Regex: "left"}); err != nil {
		t.Errorf("after one who left: %v", err)
	}
}

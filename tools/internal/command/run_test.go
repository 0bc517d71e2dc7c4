package command

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/command/answers"
	"github.com/gemwire/gemwire/tools/internal/command/flagset"
)

// fileTime is when served files were changed.
var fileTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

const weatherTool = `[{"type":"function","function":{"name":"get_weather","description":"Get the weather in a city",` +
	`"parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}]`

func TestRun(t *testing.T) {
	tools := writeFile(t, "tools.json", []byte("\uFEFF"+weatherTool))
	schema := writeFile(t, "schema.json", []byte(`{"const": "Paris"}`))
	marked := writeFile(t, "marked.json", []byte("\uFEFF"+`{"const": "Paris"}`))
	grammar := writeFile(t, "grammar.gbnf", []byte("\uFEFF"+`root ::= "It is " ("Rome" | "Paris") "!"`))
	model := nanoFile(t, "model.gguf", func(b []byte) []byte { return b })
	const question, answer = "What is the capital of France?", "The capital of France is Paris.\n"
	tests := []struct {
		name  string
		stdin string
		args  []string
		want  string
	}{
		{"prompt alone", "", []string{question}, answer},
		{"model and prompt", "", []string{"nano", question}, answer},
		{"--model", "", []string{"--model", "nano", question}, answer},
		{"a file", "", []string{model, question}, answer},
		{"prompt on standard input", question, nil, answer},
		{"with its line's end", question + "\n", []string{"-"}, answer},
		{"model, prompt on standard input", question, []string{"nano"}, answer},
		{"file, prompt on standard input", question, []string{model}, answer},
		{"--model, prompt on standard input", question, []string{"--model", model}, answer},
		{"few tokens", "", []string{question, "--max-tokens", "3"}, "The capital of\n"},
		{"stop string", "", []string{question, "--stop", " is"}, "The capital of France\n"},
		{"forbidden token", "", []string{"--raw", "--max-tokens", "1", "--logit-bias", "6=-inf", "<bos><|turn>user\n" +
			question + "<turn|>\n<|turn>model\nThe capital of France is Paris."}, "\n"},
		{"rendered prompt", "", []string{"--raw", "<bos><|turn>user\n" + question + "<turn|>\n<|turn>model\n"}, answer},
		{"rendered prompt without bos", "", []string{"--raw", "<|turn>user\n" + question + "<turn|>\n<|turn>model\n"},
			answer},
		{"choice", "", []string{question, "--choice", "a city", "--choice", "The capital of Norway is Oslo"},
			"The capital of Norway is Oslo\n"},
		{"regex", "", []string{question, "--regex", "The [a-z]{4} of France"}, "The maps of France\n"},
		{"schema", "", []string{question, "--schema", `{"type": "object",
			"properties": {"capital": {"enum": ["Oslo", "Paris"]}}, "required": ["capital"],
			"additionalProperties": false}`}, `{"capital": "Oslo"}` + "\n"},
		{"schema in a file", "", []string{question, "--schema", schema}, "\"Paris\"\n"},
		{"schema in a file with a mark", "", []string{question, "--schema", marked}, "\"Paris\"\n"},
		{"grammar", "", []string{question, "--grammar", grammar}, "It is Paris!\n"},
		{"JSON", "", []string{question, "--json-only", "--max-tokens", "1"}, "1\n"},
		{"tool call", "", []string{"What is the weather in Vienna?", "--tools", tools},
			`get_weather({"city":"Vienna"})` + "\n"},
		{"tool call that must be", "", []string{question, "--tools", tools, "--tool-choice", "get_weather",
			"--single-call"}, `get_weather({"city":"Paris"})` + "\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := ok(t, gemwire(t, tt.stdin, append([]string{"run", "--device", "cpu", "--greedy"}, tt.args...)...))
			if tt.name == "forbidden token" { // whichever it is, the turn does not end
				if got == "" {
					t.Error("no answer")
				}
				return
			}
			if got != tt.want {
				t.Errorf("answer %q, want %q", got, tt.want)
			}
		})
	}
}

// An answer that was cut fails where what there is of it does not fit its form, or where it was cut in a call, of which
// nothing is printed.
func TestRunCutShort(t *testing.T) {
	tools := writeFile(t, "tools.json", []byte(weatherTool))
	const person = `{"type": "object", "properties": {"name": {"const": "Lily"}, "age": {"type": "integer"}},
		"required": ["name", "age"], "additionalProperties": false}`
	const weather = "What is the weather in Vienna?"
	calls := []string{"--tools", tools, "--max-tokens", "5"}
	for _, tt := range []struct {
		args      []string
		code      int
		out, says string
	}{
		{[]string{"--max-tokens", "2", "Hello"}, 0, "", "cut off"},
		{[]string{"--max-tokens", "2", "--regex", "a{100}", "Hello"}, 1, "", "before it fit"},
		{[]string{"--max-tokens", "2", "--json", "--regex", "a{100}", "Hello"}, 1, "", "before it fit"},
		{[]string{"--max-tokens", "2", "--regex", "a{1,100}", "Hello"}, 0, "", "cut off"},
		{[]string{"--stop", ",", "--schema", person, "Hello"}, 1, `{"name": "Lily"`, "before it fit"},
		{[]string{"--stop", "b", "--regex", "a{3}b*c?", "Hello"}, 0, "aaa", ""},
		{append(calls, "--tool-choice", "required", weather), 1, "", "within a call"},
		{append(calls, "--tool-choice", "auto", weather), 1, "", "within a call"},
		{append(calls, "--tool-choice", "free", weather), 1, "", "within a call"},
		{append(calls, "--tool-choice", "required", "--think", "--logit-bias", "7=99", weather), 1, "",
			"before it called a tool"},
		{append(calls, "--tool-choice", "none", weather), 0, "", "cut off"},
		{append(calls, "--tool-choice", "required", "--json", weather), 1, "", "within a call"},
	} {
		got := gemwire(t, "", append([]string{"run", "--device", "cpu", "--greedy"}, tt.args...)...)
		if got.code != tt.code || !strings.Contains(got.err, tt.says) || strings.Contains(got.err, "cannot be parsed") ||
			tt.code == 0 && strings.Contains(got.err, "before") {
			t.Errorf("%v: status %d, %s", tt.args, got.code, got.err)
		}
		if tt.out != "" && strings.TrimSpace(got.out) != tt.out || strings.HasPrefix(got.out, "call:") ||
			strings.Contains(got.out, "malformed") {
			t.Errorf("%v prints %q, want %q", tt.args, got.out, tt.out)
		}
	}
}

func TestRunSaysWhatIsBesideTheAnswer(t *testing.T) {
	got := gemwire(t, "", "run", "--device", "cpu", "--max-tokens", "2", "--seed", "7", "--verbose", "--logprobs", "1",
		"Hello")
	ok(t, got)
	for _, want := range []string{"cut off after --max-tokens 2", "seed     7", "prompt ", "answer   2 tokens",
		" of \""} {
		if !strings.Contains(got.err, want) {
			t.Errorf("messages %q lack %q", got.err, want)
		}
	}
}

// A question that the model answers with nothing gets a line that says so, and is no failure.
func TestRunSaysNothing(t *testing.T) {
	const says = "the model ended its answer without a word"
	turnEnds := []string{"--logit-bias", "6=100", "Hello"}
	for _, tt := range []struct {
		name string
		args []string
		out  string
		says bool
	}{
		{"nothing", turnEnds, "", true},
		{"nothing but a space", []string{"--regex", " ", "Hello"}, " \n", true},
		{"nothing after a stop string", []string{"--stop", "The", "What is the capital of France?"}, "", false},
		{"a word", []string{"What is the capital of France?"}, paris, false},
	} {
		got := gemwire(t, "", append([]string{"run", "--device", "cpu", "--greedy"}, tt.args...)...)
		if ok(t, got) != tt.out || strings.Contains(got.err, says) != tt.says {
			t.Errorf("%s: %q, and beside %q", tt.name, got.out, got.err)
		}
	}
	got := gemwire(t, "", append([]string{"run", "--device", "cpu", "--json"}, turnEnds...)...)
	if !strings.HasPrefix(ok(t, got), `{"type":"done","reason":"stop",`) || !strings.Contains(got.err, says) {
		t.Errorf("as JSON: %q, and beside %q", got.out, got.err)
	}
}

func TestRunThinks(t *testing.T) {
	got := gemwire(t, "", "run", "--device", "cpu", "--greedy", "--think", "What is 3 + 4?")
	if answer := ok(t, got); answer == "" || strings.Contains(got.err, answer) {
		t.Errorf("answer %q, messages %q", answer, got.err)
	}
	if got.err == "" {
		t.Error("no thoughts on standard error")
	}
}

func TestRunSeed(t *testing.T) {
	story := func(seed string) string {
		return ok(t, gemwire(t, "", "run", "--device", "cpu", "--temperature", "3", "--top-k", "0", "--top-p", "1",
			"--max-tokens", "12", "--seed", seed, "Tell me a story."))
	}
	if a, b := story("1"), story("1"); a != b {
		t.Errorf("the same seed gave %q and %q", a, b)
	}
	if a, b := story("1"), story("2"); a == b {
		t.Errorf("two seeds gave %q", a)
	}
}

func TestRunJSON(t *testing.T) {
	out := ok(t, gemwire(t, "", "run", "--device", "cpu", "--greedy", "--json", "--logprobs", "2",
		"What is the capital of France?"))
	var text string
	var last answers.Event
	for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
		last = answers.Event{}
		if err := json.Unmarshal([]byte(line), &last); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		text += last.Text
		for _, token := range last.Tokens {
			if token.LogProb == nil || len(token.Top) != 2 {
				t.Errorf("token %+v lacks log-probabilities", token)
			}
		}
	}
	if text != "The capital of France is Paris." {
		t.Errorf("text %q", text)
	}
	if last.Type != "done" || last.Reason != "stop" || last.Usage == nil || last.Usage.Answer != 7 {
		t.Errorf("last event %+v", last)
	}
}

// promptTokens is how many tokens the prompt of a command line has.
func promptTokens(t *testing.T, stdin string, args ...string) int {
	t.Helper()
	out := ok(t, gemwire(t, stdin, append([]string{"run", "--device", "cpu", "--max-tokens", "1", "--json"}, args...)...))
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var last answers.Event
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil {
		t.Fatal(err)
	}
	return last.Usage.Prompt
}

// What is piped to a question comes after it, and neither is lost.
func TestRunTakesQuestionAndText(t *testing.T) {
	text := "My name is Tom.\n\nWhat is my name?"
	question, rest, _ := strings.Cut(text, "\n\n")
	want := ok(t, gemwire(t, "", "run", "--device", "cpu", "--greedy", text))
	for _, args := range [][]string{{question}, {"nano", question}, {"--model", "nano", question}} {
		got := ok(t, gemwire(t, rest, append([]string{"run", "--device", "cpu", "--greedy"}, args...)...))
		if got != want {
			t.Errorf("%v: answer %q, want %q", args, got, want)
		}
		if a, b := promptTokens(t, rest, args...), promptTokens(t, "", text); a != b {
			t.Errorf("%v: %d tokens, want %d", args, a, b)
		}
	}
	if a, b := promptTokens(t, " \n", question), promptTokens(t, "", question); a != b {
		t.Errorf("empty standard input adds to the prompt: %d tokens, want %d", a, b)
	}
	if a, b := promptTokens(t, rest, ""), promptTokens(t, "", rest); a != b {
		t.Errorf("text piped to an empty prompt: %d tokens, want %d", a, b)
	}
	got := gemwire(t, rest, "run", "--raw", question)
	wantSentence(t, got, "--raw takes one as it is")
	if got := ok(t, gemwire(t, "ignored", "tokenize", "Hi")); got != "866\n" {
		t.Errorf("tokenize reads both: %q", got)
	}
}

// A first argument that names a model is the model, and nothing else is.
func TestRunTellsModelsFromPrompts(t *testing.T) {
	s := newStore(t)
	s.create("friend", nil)
	m := machine{models: t.TempDir(), store: s.root}
	t.Chdir(filepath.Dir(writeFile(t, "Hello", []byte("a file that happens to be called so"))))
	for _, tt := range []struct {
		args          []string
		stdin         string
		model, prompt string
	}{
		{[]string{"nano"}, "Hi", "nano", "Hi"},
		{[]string{"friend"}, "Hi", "friend", "Hi"},
		{[]string{"nano", "nano"}, "", "nano", "nano"},
		{[]string{"Hello"}, "", "", "Hello"},
		{[]string{"Hello"}, "Hi", "", "Hello"},
		{[]string{"What is nano?"}, "", "", "What is nano?"},
		{[]string{"-"}, "Hi", "", "Hi"},
		{nil, "Hi", "", "Hi"},
	} {
		env := &cli.Environment{In: strings.NewReader(tt.stdin), Getenv: func(name string) string {
			return map[string]string{"GEMWIRE_MODELS": m.models, "OLLAMA_MODELS": m.store}[name]
		}}
		t.Setenv("OLLAMA_MODELS", s.root)
		got, err := flagset.TextArguments{Env: env, What: "prompt"}.Read(context.Background(), tt.args)
		if err != nil || got.Model != tt.model || got.Text != tt.prompt {
			t.Errorf("%q: %+v, %v", tt.args, got, err)
		}
	}
}

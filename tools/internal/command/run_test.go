package command

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// fileTime is when served files were changed.
var fileTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

const weatherTool = `[{"type":"function","function":{"name":"get_weather","description":"Get the weather in a city",` +
	`"parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}]`

func TestRun(t *testing.T) {
	tools := writeFile(t, "tools.json", []byte(weatherTool))
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
		{"forbidden token", "", []string{"--raw", "--max-tokens", "1", "--logit-bias", "6=-inf", "<bos><|turn>user\n" + question + "<turn|>\n<|turn>model\nThe capital of France is Paris."}, "\n"},
		{"rendered prompt", "", []string{"--raw", "<bos><|turn>user\n" + question + "<turn|>\n<|turn>model\n"}, answer},
		{"rendered prompt without bos", "", []string{"--raw", "<|turn>user\n" + question + "<turn|>\n<|turn>model\n"}, answer},
		{"tool call", "", []string{"What is the weather in Vienna?", "--tools", tools}, `get_weather({"city":"Vienna"})` + "\n"},
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

func TestRunSaysWhatIsBesideTheAnswer(t *testing.T) {
	got := gemwire(t, "", "run", "--device", "cpu", "--max-tokens", "2", "--seed", "7", "--verbose", "--logprobs", "1", "Hello")
	ok(t, got)
	for _, want := range []string{"cut off after --max-tokens 2", "seed     7", "prompt ", "answer   2 tokens", " of \""} {
		if !strings.Contains(got.err, want) {
			t.Errorf("messages %q lack %q", got.err, want)
		}
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
		return ok(t, gemwire(t, "", "run", "--device", "cpu", "--temperature", "3", "--top-k", "0", "--top-p", "1", "--max-tokens", "12", "--seed", seed, "Tell me a story."))
	}
	if a, b := story("1"), story("1"); a != b {
		t.Errorf("the same seed gave %q and %q", a, b)
	}
	if a, b := story("1"), story("2"); a == b {
		t.Errorf("two seeds gave %q", a)
	}
}

func TestRunJSON(t *testing.T) {
	out := ok(t, gemwire(t, "", "run", "--device", "cpu", "--greedy", "--json", "--logprobs", "2", "What is the capital of France?"))
	var text string
	var last eventJSON
	for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
		last = eventJSON{}
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

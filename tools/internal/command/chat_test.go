package command

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// chatting types lines to a chat and returns what it answers and says beside.
func chatting(t *testing.T, lines []string, args ...string) outcome {
	t.Helper()
	got := gemwire(t, strings.Join(lines, "\n")+"\n", append([]string{"chat", "--device", "cpu", "--greedy"}, args...)...)
	ok(t, got)
	return got
}

const paris = "The capital of France is Paris.\n"

func TestChat(t *testing.T) {
	const question = "What is the capital of France?"
	tests := []struct {
		name  string
		lines []string
		out   string
		err   []string // parts of what is said beside
	}{
		{"one turn", []string{question}, paris, nil},
		{"remembers", []string{"My name is Tom.", "/history"}, "", []string{"user: My name is Tom.", "assistant: "}},
		{"empty lines", []string{"", "  ", question}, paris, nil},
		{"exit", []string{question, "/exit", question}, paris, nil},
		{"several lines", []string{`"""`, question, `"""`}, paris, nil},
		{"help", []string{"/help"}, "", []string{"/regenerate", "/save FILE", "Ctrl-C stops"}},
		{"unknown", []string{"/fly", question}, paris, []string{"there is no /fly; /help"}},
		{"undo", []string{question, "/undo", "/history"}, paris, []string{"0 messages are left"}},
		{"nothing to undo", []string{"/undo", "/regenerate"}, "", []string{"nothing was asked yet"}},
		{"regenerate", []string{question, "/regenerate", "/history"}, paris + paris, []string{"user: " + question + "\nassistant: The capital"}},
		{"system", []string{"/system", "/system Be brief.", "/system", "/reset", "/system", "/system -", "/system"}, "", []string{"no system prompt\nsystem prompt set\nBe brief.\nthe conversation is forgotten\nBe brief.\nsystem prompt taken away\nno system prompt\n"}},
		{"think", []string{"/think", "/think off", "/think maybe"}, "", []string{"thinking is on\nthinking is off\n", "say on or off"}},
		{"set", []string{"/set max_tokens 3", question, "/set max-tokens 0", "/set"}, "The capital of\n", []string{"max-tokens is 3", "cut off after", "temperature "}},
		{"set wrong", []string{"/set warmth 3", "/set top-k few", "/set temperature 1000", "/set temperature", question}, paris, []string{`no option "warmth"`, `"few" is no value for top-k`, "temperature is 1000, wanted"}},
		{"set stop", []string{"/set stop is", question, "/set stop", "/regenerate"}, "The capital of France \n" + paris, nil},
		{"info", []string{question, "/info"}, paris, []string{"Nano", "of 4096 tokens in use", "messages   2"}},
		{"verbose", []string{"/verbose on", question}, paris, []string{"answer   7 tokens"}},
		{"no file", []string{"/save", "/load", "/load /nonexistent/x.json"}, "", []string{"/save needs the name of a file", "/load needs", "/nonexistent/x.json"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := chatting(t, tt.lines)
			if tt.out != "" && got.out != tt.out {
				t.Errorf("answers (-want +got):\n%s", cmp.Diff(tt.out, got.out))
			}
			for _, part := range tt.err {
				if !strings.Contains(got.err, part) {
					t.Errorf("messages %q lack %q", got.err, part)
				}
			}
		})
	}
}

func TestChatSavesAndLoads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chat.json")
	chatting(t, []string{"/system Be brief.", "What is the capital of France?", "/save " + path, "/save " + path})
	want := ok(t, gemwire(t, "", "render", path))
	if !strings.Contains(want, "<|turn>system\nBe brief.<turn|>") || !strings.Contains(want, "<|turn>user\nWhat is the capital of France?<turn|>\n<|turn>model\n") {
		t.Errorf("the saved conversation renders as %q", want)
	}
	again := path + "2"
	got := chatting(t, []string{"/load " + path, "/save " + again})
	if !strings.Contains(got.err, "loaded 3 messages") {
		t.Errorf("messages %q", got.err)
	}
	if diff := cmp.Diff(want, ok(t, gemwire(t, "", "render", again))); diff != "" {
		t.Errorf("the conversation loaded and saved (-want +got):\n%s", diff)
	}
}

func TestChatSparesOtherFiles(t *testing.T) {
	path := writeFile(t, "notes.txt", []byte("notes"))
	got := chatting(t, []string{"/save " + path, "/load " + path})
	if raw, err := os.ReadFile(path); err != nil || string(raw) != "notes" {
		t.Errorf("the file holds %q, %v", raw, err)
	}
	for _, want := range []string{"holds something else", "is no conversation"} {
		if !strings.Contains(got.err, want) {
			t.Errorf("messages %q lack %q", got.err, want)
		}
	}
}

func TestChatCallsTools(t *testing.T) {
	tools := writeFile(t, "tools.json", []byte(weatherTool))
	path := filepath.Join(t.TempDir(), "chat.json")
	got := chatting(t, []string{"What is the weather in Vienna?", `sunny`, "/save " + path}, "--tools", tools)
	if !strings.HasPrefix(got.out, `get_weather({"city":"Vienna"})`+"\n") || strings.Count(got.out, "\n") < 2 {
		t.Errorf("answers %q", got.out)
	}
	prompt := ok(t, gemwire(t, "", "render", path))
	if want := `<|tool_response>response:get_weather{value:<|"|>sunny<|"|>}<tool_response|>`; !strings.Contains(prompt, want) {
		t.Errorf("the conversation %q lacks %q", prompt, want)
	}
	// Without a result the question is taken back.
	got = chatting(t, []string{"What is the weather in Vienna?"}, "--tools", tools)
	if !strings.Contains(got.err, "taken back") {
		t.Errorf("messages %q", got.err)
	}
}

// A conversation that no longer fits says so, and the chat goes on.
func TestChatContextFull(t *testing.T) {
	long := strings.Repeat("and on ", 60)
	got := chatting(t, []string{long, "What is the capital of France?"}, "--context", "40")
	if got.out != paris || !strings.Contains(got.err, "context is full") {
		t.Errorf("answers %q, messages %q", got.out, got.err)
	}
}

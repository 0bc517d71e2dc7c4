package command

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// chatting types lines to a chat and returns what it answers and says beside.
func chatting(t *testing.T, lines []string, args ...string) outcome {
	t.Helper()
	got := gemwire(t, strings.Join(lines, "\n")+"\n",
		append([]string{"chat", "--device", "cpu", "--greedy"}, args...)...)
	ok(t, got)
	return got
}

const paris = "The capital of France is Paris.\n"

func TestChat(t *testing.T) {
	const question = "What is the capital of France?"
	tests := []struct {
		name  string
		lines []string
		out   string   // all of the answers and what commands show, unless empty
		err   []string // parts of what is said beside
		shown []string // parts of what commands show
	}{
		{"one turn", []string{question}, paris, nil, nil},
		{"remembers", []string{"My name is Tom.", "/history"}, "", nil, []string{"user: My name is Tom.", "assistant: "}},
		{"empty lines", []string{"", "  ", question}, paris, nil, nil},
		{"exit", []string{question, "/exit", question}, paris, nil, nil},
		{"several lines", []string{`"""`, question, `"""`}, paris, nil, nil},
		{"help", []string{"/help"}, "", nil, []string{"/regenerate", "/save FILE", "Ctrl-C stops"}},
		{"unknown", []string{"/fly", question}, paris, []string{"unknown command /fly; /help"}, nil},
		{"mistyped", []string{"/histroy"}, "", []string{"unknown command /histroy; did you mean /history?"}, nil},
		{"undo", []string{question, "/undo", "/history"}, paris, []string{"which leaves 0 messages"}, nil},
		{"nothing to undo", []string{"/undo", "/regenerate"}, "", []string{"there is no question yet"}, nil},
		{"regenerate", []string{question, "/regenerate", "/history"}, "", nil,
			[]string{paris + paris + "user: " + question + "\nassistant: The capital"}},
		{"system", []string{"/system", "/system Be brief.", "/system", "/reset", "/system", "/system -", "/system"},
			"Be brief.\nBe brief.\n", []string{"no system prompt\nsystem prompt set\nconversation cleared\nsystem " +
				"prompt removed\nno system prompt\n"}, nil},
		{"think", []string{"/think", "/think off", "/think maybe"}, "",
			[]string{"thinking is on\nthinking is off\n", "use on or off"}, nil},
		{"set", []string{"/set max_tokens 3", question, "/set max-tokens 0", "/set max-tokens none", "/set"}, "",
			[]string{"max-tokens is 3", "cut off after", "max-tokens is 0; wanted a whole number, 1 or more, or none",
				"max-tokens is none"}, []string{"The capital of\n  temperature "}},
		{"set wrong", []string{"/set warmth 3", "/set top-k few", "/set temperature 1000", "/set temperature",
			"/set temprature 1", question}, paris,
			[]string{`no option "warmth"`, "top-k is few; wanted a whole number", "temperature is 1000; wanted",
				`no option "temprature"; did you mean temperature?`}, nil},
		{"set stop", []string{"/set stop is", question, "/set stop", "/regenerate"}, "The capital of France \n" + paris,
			nil, nil},
		{"info", []string{question, "/info"}, "", nil, []string{"Nano", "of 4096 tokens in use", "messages   2"}},
		{"verbose", []string{"/verbose on", question}, paris, []string{"answer   7 tokens", "of 4096 tokens\n"}, nil},
		{"no file", []string{"/save", "/load", "/load /nonexistent/x.json"}, "",
			[]string{"/save needs the name of a file", "/load needs", "/nonexistent/x.json does not exist"}, nil},
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
			for _, part := range tt.shown {
				if !strings.Contains(got.out, part) {
					t.Errorf("output %q lacks %q", got.out, part)
				}
			}
		})
	}
}

func TestChatSavesAndLoads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "chat.json")
	chatting(t, []string{"/system Be brief.", "What is the capital of France?", "/save " + path, "/save " + path})
	want := ok(t, gemwire(t, "", "render", path))
	if !strings.Contains(want, "<|turn>system\nBe brief.<turn|>") ||
		!strings.Contains(want, "<|turn>user\nWhat is the capital of France?<turn|>\n<|turn>model\n") {
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
	for _, want := range []string{"exists already with other content", "is not a conversation"} {
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
	if want := `<|tool_response>response:get_weather{value:<|"|>sunny<|"|>}<tool_response|>`; !strings.Contains(prompt,
		want) {
		t.Errorf("the conversation %q lacks %q", prompt, want)
	}
	// A call that is cut is none, and says so.
	got = chatting(t, []string{"What is the weather in Vienna?"}, "--tools", tools, "--max-tokens", "5")
	if strings.Contains(got.out, "call:") || !strings.Contains(got.err, "within a call") {
		t.Errorf("answers %q, messages %q", got.out, got.err)
	}
	// Without a result the question is taken back.
	got = chatting(t, []string{"What is the weather in Vienna?"}, "--tools", tools)
	if !strings.Contains(got.err, "removed: without a result") {
		t.Errorf("messages %q", got.err)
	}
}

// A conversation that no longer fits says so once, with what a chat can do, and goes on.
func TestChatContextFull(t *testing.T) {
	long := strings.Repeat("and on ", 60)
	got := chatting(t, []string{long, "What is the capital of France?"}, "--context", "40")
	if got.out != paris {
		t.Errorf("answers %q", got.out)
	}
	const want = "the context of 40 tokens is full: /undo removes the last message and its answer, /reset forgets all, " +
		"and gemwire chat --context N holds up to 4096; this message takes the conversation to "
	if !strings.HasPrefix(got.err, want) || strings.Count(got.err, "full") != 1 {
		t.Errorf("messages %q, want %q", got.err, want)
	}
	const cut = "the answer was cut off: the context of 20 tokens is full: /undo "
	for _, most := range []string{"none", "2048"} { // an answer takes what is left
		got = chatting(t, []string{"Tell me a story."}, "--context", "20", "--max-tokens", most)
		if !strings.Contains(got.err, cut) || strings.Count(got.err, "is full") != 1 {
			t.Errorf("messages %q, want %q", got.err, cut)
		}
	}
}

// A message that the model answers with nothing is taken back, and it is said why; the chat goes on.
func TestChatOfNothing(t *testing.T) {
	const question, none = "What is the capital of France?", "the model ended its answer without a word"
	got := chatting(t, []string{"Hello", "/set logit-bias 6=0", question, "/set logit-bias 6=100", "/regenerate",
		"/history"}, "--logit-bias", "6=100")
	if want := paris + "user: " + question + "\nassistant: " + paris; got.out != want {
		t.Errorf("answers (-want +got):\n%s", cmp.Diff(want, got.out))
	}
	if strings.Count(got.err, "your message was removed: "+none) != 1 ||
		strings.Count(got.err, "the answer before stays: "+none) != 1 {
		t.Errorf("messages %q", got.err)
	}
	got = chatting(t, []string{question, "/history"}, "--stop", "The")
	if got.out != "" || !strings.Contains(got.err, "there was no answer") || strings.Contains(got.err, none) {
		t.Errorf("answers %q, messages %q", got.out, got.err)
	}
}

// A chat that outgrows its context goes on without its oldest messages, and says so; where
// it may not, it ends.
func TestChatForgets(t *testing.T) {
	lines := slices.Repeat([]string{"What is the capital of France?"}, 12)
	got := chatting(t, append(lines, "/context"), "--context", "128")
	answers, context, _ := strings.Cut(got.out, "  in use")
	if answers != strings.Repeat(paris, 12) || !strings.Contains(context, "  left out   the oldest ") ||
		strings.Contains(context, "  left       0") {
		t.Errorf("answers %q", got.out)
	}
	tight := strings.Index(got.err, "nearly full: soon the oldest messages will be left out")
	full := strings.Index(got.err, "the context is full: the oldest ")
	if tight < 0 || full < tight || strings.Count(got.err, "left out, and") > 8 {
		t.Errorf("messages %q", got.err)
	}
	got = chatting(t, lines, "--context", "128", "--no-forget")
	if !strings.Contains(got.err, "nearly full; /context") || !strings.Contains(got.err, "so it was removed") {
		t.Errorf("without forgetting: messages %q", got.err)
	}
	got = chatting(t, []string{"/forget off", "/forget", "/forget maybe"})
	if !strings.Contains(got.err, "the whole chat is kept until") || !strings.Contains(got.err, "use on or off") {
		t.Errorf("messages %q", got.err)
	}
}

// The context is as full as the next prompt will be, from the start.
func TestChatContext(t *testing.T) {
	inUse := func(lines []string, args ...string) int {
		t.Helper()
		out := chatting(t, lines, args...).out
		var n, of, percent int
		if _, err := fmt.Sscanf(out[strings.Index(out, "  in use"):], "  in use %d of %d tokens, %d %%", &n, &of,
			&percent); err != nil || of != 4096 || percent != n*100/of {
			t.Fatalf("%q: %v", out, err)
		}
		return n
	}
	prompt := func(text string) int {
		return len(strings.Split(ok(t, gemwire(t, text, "tokenize", "--special", "-")), ","))
	}
	tools := writeFile(t, "tools.json", []byte(weatherTool))
	picture := filepath.Join(conformance, "tiny.png")
	empty, system := inUse([]string{"/context"}), inUse([]string{"/context"}, "--system", "Be brief.")
	if want := prompt("<bos>"); empty != want {
		t.Errorf("an empty chat takes %d tokens, want %d", empty, want)
	}
	if want := prompt("<bos><|turn>system\nBe brief.<turn|>\n"); system != want {
		t.Errorf("with a system prompt it takes %d tokens, want %d", system, want)
	}
	if n := inUse([]string{"/context"}, "--tools", tools); n < empty+20 {
		t.Errorf("with a tool it takes %d tokens", n)
	}
	if n := inUse([]string{"/image " + picture, "/context"}); n < empty+10 {
		t.Errorf("with a picture it takes %d tokens", n)
	}
	if n := inUse([]string{"What is the capital of France?", "/context"}); n < empty+15 {
		t.Errorf("after a question it takes %d tokens", n)
	}
	if n := inUse([]string{"What is the capital of France?", "/reset", "/context"}); n != empty {
		t.Errorf("after /reset it takes %d tokens, want %d", n, empty)
	}
}

// What is no picture or recording is refused at once, not with the next message.
func TestChatRefusesWhatIsNoPicture(t *testing.T) {
	text, folder := writeFile(t, "notes.txt", []byte("notes")), t.TempDir()
	fake := writeFile(t, "fake.png", []byte("no picture"))
	got := chatting(t, []string{
		"/image " + text, "/image " + folder, "/image /none.png", "/audio " + text, fake,
		"/audio " + conformance + "/tiny.png",
		"/image https://example.org/x.png", "/image", "What is the capital of France?",
	})
	if got.out != paris || strings.Contains(got.err, "added") {
		t.Errorf("answers %q, messages %q", got.out, got.err)
	}
	for _, want := range []string{text + ": ", folder + " is a folder", "/none.png does not exist", fake + ": ",
		"tiny.png: ", "is a URL; download the file first", "name a file: /image FILE"} {
		if !strings.Contains(got.err, want) {
			t.Errorf("messages %q lack %q", got.err, want)
		}
	}
	if n := strings.Count(got.err, "\n"); n != 8 {
		t.Errorf("%d messages, want 8: %q", n, got.err)
	}
}

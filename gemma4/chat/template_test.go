package chat_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/tokenizer"
	"github.com/google/go-cmp/cmp"
)

func TestTemplateNames(t *testing.T) {
	for name, want := range map[string]chat.Template{"e2b": chat.E2B, "E4B": chat.E2B, "26b": chat.Large,
		"31b": chat.Large} {
		if got, err := chat.ByName(name); err != nil || got != want {
			t.Errorf("%s is %v, %v", name, got, err)
		}
	}
	if _, err := chat.ByName("270m"); !errors.Is(err, chat.ErrTemplate) {
		t.Errorf("an unknown name: %v", err)
	}
	if chat.E2B.String() != "e2b" || chat.Large.String() != "31b" {
		t.Errorf("the templates are called %v and %v", chat.E2B, chat.Large)
	}
	if chat.For(&arch.Config{PerLayerDim: 1}) != chat.E2B || chat.For(&arch.Config{}) != chat.Large ||
		chat.For(&arch.Config{Family: arch.Gemma3}) != chat.Gemma3 {
		t.Error("a family has the other's template")
	}
}

func TestSegments(t *testing.T) {
	image := chat.Part{Type: chat.Image, URL: "cat.png"}
	prompt, err := chat.E2B.Render([]chat.Message{
		{Role: chat.User, Content: chat.Parts(chat.Part{Type: chat.TextPart, Text: " See "}, image)},
	}, chat.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := chat.Prompt{
		{Text: "<bos><|turn>user\n", Trusted: true},
		{Text: "See"},
		{Text: "<|image|>", Trusted: true, Media: &image},
		{Text: "<turn|>\n<|turn>model\n", Trusted: true},
	}
	if diff := cmp.Diff(want, prompt); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestEncodeMedia(t *testing.T) {
	tok := nano(t)
	id := func(text string) int { id, _ := tok.Lookup(text); return id }
	prompt, err := chat.E2B.Render([]chat.Message{{Role: chat.User, Content: chat.Parts(
		chat.Part{Type: chat.Image}, chat.Part{Type: chat.Audio},
	)}}, chat.Options{NoGenerationPrompt: true})
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := prompt.Encode(tok, func(p *chat.Part) ([]chat.Piece, error) {
		return map[chat.PartType][]chat.Piece{chat.Image: {{Count: 3}}, chat.Audio: {{Count: 0}, {Count: 2}}}[p.Type], nil
	})
	if err != nil {
		t.Fatal(err)
	}
	head := tok.EncodeSpecial("<bos><|turn>user\n")
	want := append(head, id("<|image>"), id("<|image|>"), id("<|image|>"), id("<|image|>"), id("<image|>"),
		id("<|audio>"), id("<audio|>"),
		id("<|audio>"), id("<|audio|>"), id("<|audio|>"), id("<audio|>"))
	want = append(want, tok.EncodeSpecial("<turn|>\n")...)
	if diff := cmp.Diff(want, encoded.IDs); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
	places := []chat.Placement{
		{Part: &chat.Part{Type: chat.Image}, First: len(head) + 1, Count: 3},
		{Part: &chat.Part{Type: chat.Audio}, First: len(head) + 6, Count: 0},
		{Part: &chat.Part{Type: chat.Audio}, Piece: 1, First: len(head) + 8, Count: 2},
	}
	if diff := cmp.Diff(places, encoded.Media); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
	broken := errors.New("broken file")
	_, err = prompt.Encode(tok, func(*chat.Part) ([]chat.Piece, error) { return nil, broken })
	if !errors.Is(err, broken) {
		t.Errorf("a broken image: %v", err)
	}
}

// A video becomes its frames, each behind its time, and its sound.
func TestEncodeVideo(t *testing.T) {
	tok := nano(t)
	prompt, err := chat.E2B.Render([]chat.Message{{Role: chat.User, Content: chat.Parts(
		chat.Part{Type: chat.TextPart, Text: "See:"}, chat.Part{Type: chat.Video},
		chat.Part{Type: chat.TextPart, Text: "Why?"},
	)}}, chat.Options{NoGenerationPrompt: true})
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := prompt.Encode(tok, func(*chat.Part) ([]chat.Piece, error) {
		return []chat.Piece{{Count: 2, Before: "00:00 "}, {Count: 1, Before: " 00:07 "},
			{Type: chat.Audio, Count: 1}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// This vocabulary has no token for frames, so that the image's is in its place. The
	// text around is one text.
	want := "<bos><|turn>user\nSee:00:00 <|image><|image|><|image|><image|> 00:07 <|image><|image|><image|>" +
		"<|audio><|audio|><audio|>Why?<turn|>\n"
	if diff := cmp.Diff(tok.EncodeSpecial(want), encoded.IDs); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
	for i, count := range []int{2, 1, 1} {
		if at := encoded.Media[i]; at.Piece != i || at.Count != count {
			t.Errorf("%+v", at)
		}
	}
}

func TestEncodeNeedsTheTokens(t *testing.T) {
	prompt, err := chat.E2B.Render([]chat.Message{{Role: chat.User, Content: chat.Parts(chat.Part{Type: chat.Video})}},
		chat.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := prompt.Encode(plain(t), nil); !errors.Is(err, chat.ErrVocabulary) {
		t.Errorf("a vocabulary without turns: %v", err)
	}
	if _, err := chat.NewParser(plain(t), chat.ParserOptions{}); !errors.Is(err, chat.ErrVocabulary) {
		t.Errorf("a parser without tokens: %v", err)
	}
}

// vocabulary is one of control tokens, or of the same texts as mere words.
func vocabulary(t *testing.T, kind tokenizer.TokenType, tokens ...string) *tokenizer.Tokenizer {
	t.Helper()
	v := tokenizer.Vocabulary{Model: "gemma4", Tokens: append([]string{"<unk>", "a", "aa"}, tokens...),
		Merges: []string{"a a"}, BOS: tokenizer.None, PAD: tokenizer.None, UNK: 0, EOT: tokenizer.None,
		Types: []tokenizer.TokenType{tokenizer.Unknown, tokenizer.Normal, tokenizer.Normal}}
	for range tokens {
		v.Types = append(v.Types, kind)
	}
	tok, err := tokenizer.New(v)
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// A marker that is a word could stand in anybody's text.
func TestEncodeNeedsControlTokens(t *testing.T) {
	prompt := chat.Prompt{{Text: "<bos><|turn>", Trusted: true}, {Text: "aa"}, {Text: "<turn|>", Trusted: true}}
	encoded, err := prompt.Encode(vocabulary(t, tokenizer.Control, "<bos>", "<|turn>", "<turn|>"), nil)
	if want := []int{3, 4, 2, 5}; err != nil || !slices.Equal(encoded.IDs, want) {
		t.Errorf("%v, %v, wanted %v", encoded.IDs, err, want)
	}
	words := vocabulary(t, tokenizer.Normal, "<bos>", "<|turn>", "<turn|>")
	if _, err := prompt.Encode(words, nil); !errors.Is(err, chat.ErrVocabulary) {
		t.Errorf("markers that are words: %v", err)
	}
}

// A video has the placeholder of its own, and the image's where there is none.
func TestPlaceholderOfVideos(t *testing.T) {
	prompt := chat.Prompt{{Media: &chat.Part{Type: chat.Video}}}
	markers := []string{"<bos>", "<|turn>", "<turn|>", "<|image|>"}
	for want, tokens := range map[int][]string{6: markers, 7: append(markers, "<|video|>")} {
		encoded, err := prompt.Encode(vocabulary(t, tokenizer.Control, tokens...), nil)
		if err != nil || !slices.Equal(encoded.IDs, []int{want}) {
			t.Errorf("with %q: %v, %v, wanted %d", tokens, encoded.IDs, err, want)
		}
	}
}

// Thoughts are shown behind the last message of a user, not in it.
func TestReasoningOfUsers(t *testing.T) {
	prompt, err := chat.E2B.Render([]chat.Message{{Role: chat.User, Reasoning: "Hm.", Content: chat.Text("Hi")}},
		chat.Options{})
	if want := "<bos><|turn>user\nHi<turn|>\n<|turn>model\n"; err != nil || prompt.String() != want {
		t.Errorf("%q, %v, wanted %q", prompt, err, want)
	}
}

func TestRenderRefuses(t *testing.T) {
	call := func(arguments string) []chat.Message {
		return []chat.Message{{Role: chat.Assistant,
			ToolCalls: []chat.ToolCall{{Name: "f", Arguments: json.RawMessage(arguments)}}}}
	}
	deep := strings.Repeat("[", 1000) + strings.Repeat("]", 1000)
	for name, c := range map[string]struct {
		messages []chat.Message
		tool     chat.Tool
		want     error
	}{
		"arguments cut off":  {messages: call(`{"a":`), want: chat.ErrMessage},
		"two arguments":      {messages: call(`{} {}`), want: chat.ErrMessage},
		"arguments too deep": {messages: call(`{"a":` + deep + `}`), want: chat.ErrMessage},
		"parameters cut off": {tool: chat.Tool{Name: "f", Parameters: json.RawMessage(`{`)}, want: chat.ErrTool},
		"parameters a list":  {tool: chat.Tool{Name: "f", Parameters: json.RawMessage(`[1]`)}, want: chat.ErrTool},
		"response cut off":   {tool: chat.Tool{Name: "f", Response: json.RawMessage(`"`)}, want: chat.ErrTool},
		"result cut off": {messages: append(call(`{}`),
			chat.Message{Role: chat.ToolRole, Content: chat.JSON(json.RawMessage(`{`))}), want: chat.ErrMessage},
		"result inside cut off": {messages: []chat.Message{{Role: chat.Assistant,
			ToolResults: []chat.ToolResult{{Response: json.RawMessage(`{`)}}}}, want: chat.ErrMessage},
	} {
		opts := chat.Options{}
		if c.tool.Name != "" {
			opts.Tools = []chat.Tool{c.tool}
		}
		if _, err := chat.E2B.Render(c.messages, opts); !errors.Is(err, c.want) {
			t.Errorf("%s: %v (want %v)", name, err, c.want)
		}
	}
}

// Messages are counted from 0, the system's among them, which is no turn of its own.
func TestRenderSaysWhichMessage(t *testing.T) {
	bad := chat.Message{Role: chat.Assistant, ToolCalls: []chat.ToolCall{{Name: "f", Arguments: json.RawMessage("{")}}}
	system := chat.Message{Role: chat.System, Content: chat.Text("s")}
	user := chat.Message{Role: chat.User, Content: chat.Text("u")}
	for want, messages := range map[string][]chat.Message{
		"message 0:": {bad},
		"message 1:": {user, bad},
		"message 2:": {system, user, bad},
	} {
		_, err := chat.E2B.Render(messages, chat.Options{})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, wanted %s …", err, want)
		}
	}
}

// Lists nest 200 deep below the arguments and no deeper.
func TestDepthOfArguments(t *testing.T) {
	for depth, good := range map[int]bool{199: true, 200: true, 201: false} {
		arguments := `{"a":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}`
		_, err := chat.E2B.Render([]chat.Message{{Role: chat.Assistant,
			ToolCalls: []chat.ToolCall{{Name: "f", Arguments: json.RawMessage(arguments)}}}}, chat.Options{})
		if (err == nil) != good {
			t.Errorf("rendering, %d deep: %v", depth, err)
		}
		if _, err := chat.ParseCall("call:f" + strings.Replace(arguments, `"a"`, "a", 1)); (err == nil) != good {
			t.Errorf("parsing, %d deep: %v", depth, err)
		}
	}
}

// What a declaration's members come to where they are there and say nothing, and which of
// two of one name counts, as in the released templates (Python's truth, JSON's last).
func TestDeclarationsThatSayLittle(t *testing.T) {
	for parameters, want := range map[string]string{
		`{"type":"object","properties":{"a":{"type":"array","items":{}}}}`:    "{a:{type:<|\"|>ARRAY<|\"|>}}",
		`{"type":"object","properties":{"a":{"type":"string","nullable":0}}}`: "{a:{type:<|\"|>STRING<|\"|>}}",
		`{"type":"object","properties":{"a":{"type":"string",` +
			`"nullable":0.5}}}`: "{a:{nullable:true,type:<|\"|>STRING<|\"|>}}",
		`{"type":"object","properties":{"a":{"x":1,"type":"string","x":2}}}`:      "{a:{type:<|\"|>STRING<|\"|>}}",
		`{"type":"object","properties":{"a":{"x":1,"type":"x","type":"string"}}}`: "{a:{type:<|\"|>STRING<|\"|>}}",
	} {
		tool := chat.Tool{Name: "f", Parameters: json.RawMessage(parameters)}
		prompt, err := chat.E2B.Render(nil, chat.Options{Tools: []chat.Tool{tool}})
		if err != nil || !strings.Contains(prompt.String(), "properties:"+want) {
			t.Errorf("%s is\n%s, %v\nwanted properties:%s", parameters, prompt, err, want)
		}
	}
}

func TestRenderNothing(t *testing.T) {
	prompt, err := chat.E2B.Render(nil, chat.Options{})
	if err != nil || prompt.String() != "<bos><|turn>model\n" {
		t.Errorf("%q, %v", prompt, err)
	}
}

// TestResultsThatAreObjects: the released templates cannot read such a tool
// message; it is rendered as they do results within a message.
func TestResultsThatAreObjects(t *testing.T) {
	prompt, err := chat.E2B.Render([]chat.Message{
		{Role: chat.Assistant, ToolCalls: []chat.ToolCall{{ID: "1", Name: "f"}}},
		{Role: chat.ToolRole, ToolCallID: "1", Content: chat.JSON(json.RawMessage(`{"b":1,"A":[true]}`))},
	}, chat.Options{})
	want := "<bos><|turn>model\n<|tool_call>call:f{}<tool_call|><|tool_response>response:f{A:[true],b:1}<tool_response|>"
	if err != nil || prompt.String() != want {
		t.Errorf("%q, %v", prompt, err)
	}
}

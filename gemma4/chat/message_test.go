package chat_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/tokenizer"
	"github.com/google/go-cmp/cmp"
)

// plain is a tokenizer without any of the format's tokens.
func plain(tb testing.TB) *tokenizer.Tokenizer {
	tb.Helper()
	tok, err := tokenizer.New(tokenizer.Vocabulary{
		Model: "gemma4", Tokens: []string{"a", "aa", "<unk>"}, Merges: []string{"a a"},
		BOS: tokenizer.None, PAD: tokenizer.None, UNK: 2, EOT: tokenizer.None,
	})
	if err != nil {
		tb.Fatal(err)
	}
	return tok
}

func TestMessageJSON(t *testing.T) {
	for _, want := range []string{
		`{"role":"user","content":"Hi"}`,
		`{"role":"user","content":null}`,
		`{"role":"user","content":""}`,
		`{"role":"user","content":[]}`,
		`{"role":"user","content":[{"type":"text","text":""},{"type":"image"},{"type":"audio"}]}`,
		`{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAEC"}}]}`,
		`{"role":"user","content":[{"type":"input_audio","input_audio":{"data":"AAEC","format":"wav"}}]}`,
		`{"role":"assistant","content":null,"reasoning":"Hm.","tool_calls":[{"id":"1","type":"function",` +
			`"function":{"name":"f","arguments":{"a":1.50}}}]}`,
		`{"role":"assistant","content":"","tool_calls":[{"id":"1","type":"function","function":{"name":"f",` +
			`"arguments":"{\"a\": 1}"}}]}`,
		`{"role":"assistant","content":null,"tool_responses":[{"name":"f","response":{"a":1}}]}`,
		`{"role":"tool","content":{"a":1},"tool_call_id":"1","name":"f"}`,
		`{"role":"tool","content":3.50}`,
	} {
		var m chat.Message
		if err := json.Unmarshal([]byte(want), &m); err != nil {
			t.Errorf("%s: %v", want, err)
			continue
		}
		got, err := json.Marshal(m)
		if err != nil {
			t.Errorf("%s: %v", want, err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("-in +out:\n%s", diff)
		}
	}
}

func TestMessageJSONErrors(t *testing.T) {
	for _, in := range []string{
		`{}`,
		`{"content":"x"}`,
		`{"role":"user","content":[{"type":"hologram"}]}`,
		`{"role":"user","content":[{}]}`,
		`{"role":"assistant","tool_calls":[{"id":"1"}]}`,
	} {
		if err := json.Unmarshal([]byte(in), new(chat.Message)); !errors.Is(err, chat.ErrMessage) {
			t.Errorf("%s: %v", in, err)
		}
	}
	for _, in := range []string{`{}`, `{"type":"function"}`, `{"type":"function","function":{}}`} {
		if err := json.Unmarshal([]byte(in), new(chat.Tool)); !errors.Is(err, chat.ErrTool) {
			t.Errorf("%s: %v", in, err)
		}
	}
}

func TestOptionsJSON(t *testing.T) {
	for _, want := range []string{
		`{}`,
		`{"enable_thinking":true}`,
		`{"add_generation_prompt":false}`,
		`{"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object"}}}]}`,
	} {
		var o chat.Options
		if err := json.Unmarshal([]byte(want), &o); err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(o); err != nil || string(got) != want {
			t.Errorf("%s became %s, %v", want, got, err)
		}
	}
	var o chat.Options
	if err := json.Unmarshal([]byte(`{"add_generation_prompt":true}`), &o); err != nil || o.NoGenerationPrompt {
		t.Errorf("%+v, %v", o, err)
	}
}

func TestMediaBytes(t *testing.T) {
	for url, want := range map[string]string{
		"data:image/png;base64,aGk=": "hi",
		"data:,h%69":                 "hi",
		"https://example.org/a.png":  "",
		"":                           "",
	} {
		if got, err := (chat.Part{Type: chat.Image, URL: url}).Bytes(); err != nil || string(got) != want {
			t.Errorf("%q holds %q, %v", url, got, err)
		}
	}
	for _, url := range []string{"data:image/png", "data:;base64,###", "data:,%zz"} {
		if _, err := (chat.Part{Type: chat.Image, URL: url}).Bytes(); !errors.Is(err, chat.ErrMessage) {
			t.Errorf("%q: %v", url, err)
		}
	}
	image := chat.Part{Type: chat.Image, Data: []byte("\x89PNG\r\n\x1a\n")}
	data, err := json.Marshal(image)
	if err != nil {
		t.Fatal(err)
	}
	var back chat.Part
	if err := json.Unmarshal(data, &back); err != nil {
		t.Fatal(err)
	}
	if got, err := back.Bytes(); err != nil || string(got) != string(image.Data) {
		t.Errorf("%s holds %q, %v", data, got, err)
	}
}

func TestPartJSON(t *testing.T) {
	for in, want := range map[string]chat.Part{
		`{"type":"image_url","image_url":{"url":"a.png"}}`: {Type: chat.Image,
			URL: "a.png"},
		`{"type":"image_url","image_url":{"url":"a.png","detail":"low"}}`: {Type: chat.Image,
			URL: "a.png", Budget: 70},
		`{"type":"image_url","image_url":{"url":"a.png","detail":"high"},"budget":560}`: {Type: chat.Image,
			URL: "a.png", Budget: 560},
		`{"type":"input_audio","input_audio":{"data":"aGk=","format":"wav"},"split":true}`: {
			Type: chat.Audio, Data: []byte("hi"), Format: "wav", Split: true,
		},
		`{"type":"video_url","video_url":{"url":"a.mp4"},"budget":70,"frames":8,"fps":2.5,"sound":true}`: {
			Type: chat.Video, URL: "a.mp4", Budget: 70, Frames: 8, FPS: 2.5, Sound: true,
		},
	} {
		var got chat.Part
		if err := json.Unmarshal([]byte(in), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", in, diff)
		}
		raw, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		var again chat.Part
		if err := json.Unmarshal(raw, &again); err != nil || !cmp.Equal(got, again) {
			t.Errorf("%s came back as %+v, %v", raw, again, err)
		}
	}
	if err := json.Unmarshal([]byte(`{"type":"image_url","image_url":{"url":"a.png","detail":"huge"}}`),
		new(chat.Part)); !errors.Is(err, chat.ErrMessage) {
		t.Errorf("a detail that there is not: %v", err)
	}
	if _, err := json.Marshal(chat.Part{Type: chat.Image, Format: chat.RGBA}); !errors.Is(err, chat.ErrMessage) {
		t.Errorf("pixels as JSON: %v", err)
	}
}

// Media are written in OpenAI's form where they say what they are, and in the templates' else.
func TestPartJSONForms(t *testing.T) {
	const url = "data:application/octet-stream;base64,aGk="
	for want, p := range map[string]chat.Part{
		`{"type":"image_url","image_url":{"url":"a"}}`:           {Type: chat.Image, URL: "a"},
		`{"type":"image_url","image_url":{"url":"` + url + `"}}`: {Type: chat.Image, Data: []byte("hi")},
		`{"type":"image"}`: {Type: chat.Image},
		`{"type":"video_url","video_url":{"url":"a"}}`:           {Type: chat.Video, URL: "a"},
		`{"type":"video_url","video_url":{"url":"` + url + `"}}`: {Type: chat.Video, Data: []byte("hi")},
		`{"type":"video"}`:           {Type: chat.Video},
		`{"type":"audio","url":"a"}`: {Type: chat.Audio, URL: "a"},
		`{"type":"audio"}`:           {Type: chat.Audio},
	} {
		if got, err := json.Marshal(p); err != nil || string(got) != want {
			t.Errorf("%+v is %s, %v, wanted %s", p, got, err, want)
		}
	}
}

// Null is nothing, as no text at all is, and not a value that a tool returned.
func TestContentOfNothing(t *testing.T) {
	for _, data := range []string{"null", " null\n", "", " "} {
		c := chat.JSON(json.RawMessage("1"))
		if err := c.UnmarshalJSON([]byte(data)); err != nil || !reflect.DeepEqual(c, chat.Content{}) {
			t.Errorf("%q became %+v, %v", data, c, err)
		}
	}
}

func TestContentString(t *testing.T) {
	for want, c := range map[string]chat.Content{
		"":   {},
		"Hi": chat.Text("Hi"),
		"ab": chat.Parts(chat.Part{Type: chat.TextPart, Text: "a"}, chat.Part{Type: chat.Image, Text: "no"},
			chat.Part{Type: chat.TextPart, Text: "b"}),
	} {
		if got := c.String(); got != want {
			t.Errorf("%+v says %q (want %q)", c, got, want)
		}
	}
}

func TestCheckRoles(t *testing.T) {
	known := []chat.Message{{Role: "system"}, {Role: "developer"}, {Role: "user"}, {Role: "assistant"}, {Role: "model"},
		{Role: "tool"}}
	if err := chat.CheckRoles(known); err != nil {
		t.Error(err)
	}
	err := chat.CheckRoles(append(known, chat.Message{Role: "wizard"}))
	if !errors.Is(err, chat.ErrMessage) || !strings.Contains(err.Error(), `message 6 has the role "wizard"`) {
		t.Error(err)
	}
}

package engine

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/nano"
)

// mediaCase is an image or a clip of the reference.
type mediaCase struct {
	File     string `json:"file"`
	Budget   int    `json:"budget"`
	Soft     int    `json:"soft_tokens"`
	Question string `json:"question"`
	Answer   string `json:"answer"`
}

func mediaCases(t *testing.T) (images, clips []mediaCase) {
	t.Helper()
	var all struct {
		Images, Clips []mediaCase
	}
	if err := json.Unmarshal(testFile(t, "cases.json"), &all); err != nil {
		t.Fatal(err)
	}
	return all.Images, all.Clips
}

func testFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../../testdata/conformance/nano", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func about(c mediaCase, kind chat.PartType) []chat.Message {
	return []chat.Message{{Role: chat.User, Content: chat.Parts(chat.Part{Type: kind, Budget: c.Budget},
		chat.Part{Type: chat.TextPart, Text: c.Question})}}
}

// heard is an answer with what came on the way.
type heard struct {
	text    string
	media   int
	usage   Usage
	failure *Failure
}

func (p *page) hear(session int, messages []chat.Message, refs []MediaRef, media ...[]byte) (h heard) {
	p.t.Helper()
	_, replies := p.ask(OpChat, ChatParams{Session: session, Messages: messages, Media: refs, MaxTokens: 40},
		things(media)...)
	for r := range replies {
		if r.Event == nil {
			h.failure = r.Error
			return h
		}
		switch e := r.Event.(ChatEvent); e.Type {
		case "text":
			h.text += e.Text
		case "media":
			h.media++
		case "done":
			h.usage = *e.Usage
		}
	}
	return h
}

func TestMedia(t *testing.T) {
	p := newPage(t)
	model := p.open()
	if model.Media != (Media{Images: true, Audio: true}) {
		t.Fatalf("%+v", model.Media)
	}
	images, clips := mediaCases(t)
	for _, c := range []struct {
		mediaCase
		kind chat.PartType
	}{{images[0], chat.Image}, {images[2], chat.Image}, {clips[0], chat.Audio}} {
		data, refs := testFile(t, c.File), []MediaRef{{Name: c.File}}
		want := strings.TrimSuffix(c.Answer, "<turn|>")
		got := p.hear(model.Session.Session, about(c.mediaCase, c.kind), refs, data)
		if got.failure != nil || got.text != want || got.media == 0 || got.usage.Media != 1 || got.usage.MediaMs <= 0 {
			t.Errorf("%s: %+v, want %q", c.File, got, want)
		}
		again := p.hear(model.Session.Session, about(c.mediaCase, c.kind), refs, data)
		if again.failure != nil || again.text != want || again.usage.Media != 0 || again.media != 0 {
			t.Errorf("%s again: %+v", c.File, again)
		}
	}
	p.must(OpRelease, ModelParams{Model: model.Model})
	with := p.must(OpCount, CountParams{Model: model.Model, Messages: about(images[2], chat.Image),
		Media: []MediaRef{{}}}, testFile(t, images[2].File)).(CountResult)
	alone := p.must(OpCount, CountParams{Model: model.Model, Messages: ask(images[2].Question)}).(CountResult)
	if with.Tokens != alone.Tokens+images[2].Soft+2 {
		t.Errorf("%d tokens with the image, %d without", with.Tokens, alone.Tokens)
	}
}

func TestMediaRefused(t *testing.T) {
	p := newPage(t)
	model := p.open()
	textOnly := p.must(OpOpen, OpenParams{Context: 128, TextOnly: true}, nano.Source()).(OpenResult)
	if textOnly.Media != (Media{}) {
		t.Errorf("%+v", textOnly.Media)
	}
	p.must(OpRelease, ModelParams{Model: textOnly.Model})
	images, clips := mediaCases(t)
	picture, clip := about(images[2], chat.Image), about(clips[0], chat.Audio)
	nan := binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(math.NaN())))
	for _, c := range []struct {
		name     string
		session  int
		messages []chat.Message
		refs     []MediaRef
		media    [][]byte
		want     Code
	}{
		{"text only", textOnly.Session.Session, picture, []MediaRef{{}}, [][]byte{testFile(t, images[2].File)},
			CodeUnsupported},
		{"no image", model.Session.Session, picture, []MediaRef{{Name: "notes.txt"}}, [][]byte{[]byte("hello")},
			CodeBadMedia},
		{"cut off", model.Session.Session, picture, []MediaRef{{}}, [][]byte{testFile(t, images[2].File)[:900]},
			CodeBadMedia},
		{"no bytes", model.Session.Session, picture, []MediaRef{{}}, [][]byte{{}}, CodeBadMedia},
		{"no pixels", model.Session.Session, picture, []MediaRef{{Format: chat.RGBA, Width: 0, Height: 9}},
			[][]byte{{1}}, CodeBadMedia},
		{"elsewhere", model.Session.Session, picture, nil, nil, CodeBadMedia},
		{"not a number", model.Session.Session, clip, []MediaRef{{Format: chat.Float32, Rate: 16000, Channels: 1}},
			[][]byte{nan}, CodeBadMedia},
		{"no sound", model.Session.Session, clip, []MediaRef{{Name: "a.mp3"}}, [][]byte{[]byte("ID3")}, CodeBadMedia},
		{"ten minutes", model.Session.Session, clip, []MediaRef{{Format: chat.Float32, Rate: 8000, Channels: 1}},
			[][]byte{make([]byte, 4*8000*600)}, CodeBadMedia},
		{"a budget", model.Session.Session, about(mediaCase{Budget: 3}, chat.Image), []MediaRef{{}}, [][]byte{{1}},
			CodeBadArgument},
		{"too few refs", model.Session.Session, picture, nil, [][]byte{{1}}, CodeInternal},
		{"no such message", model.Session.Session, picture, []MediaRef{{Message: 1}}, [][]byte{{1}}, CodeInternal},
		{"no such part", model.Session.Session, picture, []MediaRef{{Part: -1}}, [][]byte{{1}}, CodeInternal},
		{"text", model.Session.Session, picture, []MediaRef{{Part: 1}}, [][]byte{{1}}, CodeInternal},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := p.hear(c.session, c.messages, c.refs, c.media...)
			if got.failure == nil || got.failure.Code != c.want {
				t.Errorf("%+v", got.failure)
				return
			}
			t.Log(got.failure.Message)
		})
	}
}

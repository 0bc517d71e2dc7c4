package multimodal_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/tokenizer"
	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/multimodal"
	"github.com/gemwire/gemwire/multimodal/video"
)

// movie is an animated GIF of n frames, four a second, each of another colour.
func movie(t *testing.T, n int) []byte {
	t.Helper()
	var g gif.GIF
	for i := range n {
		m := image.NewPaletted(image.Rect(0, 0, 64, 48), color.Palette{color.NRGBA{uint8(20 * i), 90, 200, 255}})
		g.Image, g.Delay = append(g.Image, m), append(g.Delay, 25)
	}
	var out bytes.Buffer
	if err := gif.EncodeAll(&out, &g); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func about(part chat.Part) chat.Conversation {
	return chat.Conversation{Messages: []chat.Message{{Role: chat.User, Content: chat.Parts(part,
		chat.Part{Type: chat.TextPart, Text: "What happens?"})}}}
}

// text is a prompt's ids as text.
func text(t *testing.T, m *gemma4.Model, p gemma4.Prompt) string {
	t.Helper()
	ids := make([]int, len(p.Tokens))
	for i, id := range p.Tokens {
		ids[i] = int(id)
	}
	decoded, err := m.Tokenizer().Decode(ids, tokenizer.DecodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return decoded
}

func TestVideoPrompt(t *testing.T) {
	m := open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceCPU, Context: 1024})
	attach(t, m)
	for name, c := range map[string]struct {
		part  chat.Part
		times []string
	}{
		"whole": {chat.Part{Data: movie(t, 9)}, strings.Fields("00:00 00:00 00:00 00:00 00:01 00:01 00:01 00:01 00:02")},
		"some":  {chat.Part{Data: movie(t, 9), Frames: 3}, strings.Fields("00:00 00:00 00:01")},
		"in pieces": {chat.Part{Data: make([]byte, 3*4*64*48), Format: chat.RGBA, Width: 64, Height: 48,
			Indices: []int{0, 100, 6200}, FPS: 100}, strings.Fields("00:00 00:01 01:02")},
	} {
		c.part.Type = chat.Video
		prompt, err := m.EncodeChat(context.Background(), about(c.part))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var want []string
		for i, at := range prompt.Media {
			if at.Kind != chat.Video || at.Count != 63 { // 9 × 7 of at most 70
				t.Errorf("%s: %+v", name, at)
			}
			want = append(want, c.times[i]+" <|image>"+strings.Repeat("<|image|>", at.Count)+"<image|>")
		}
		whole := "<bos><|turn>user\n" + strings.Join(want, " ") + "What happens?<turn|>\n<|turn>model\n"
		if got := text(t, m, prompt); got != whole || len(prompt.Media) != len(c.times) {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, whole)
		}
	}
}

// A video's frames are pictures: those of a folder are answered as the picture is, and a
// turn that comes back to them computes nothing anew.
func TestVideoAnswers(t *testing.T) {
	mostlyOnTheCPU(t, func(t *testing.T, opts gemma4.OpenOptions) {
		m := open(t, nanoPath, opts)
		media := attach(t, m)
		folder := t.TempDir()
		scene, err := os.ReadFile(conformance.Path(t, "nano/scene3.png"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "1.png"), scene, 0o644); err != nil {
			t.Fatal(err)
		}
		part := chat.Part{Type: chat.Video, Path: folder, Budget: 280}
		s := newSession(t, m)
		prompt, err := s.EncodeChat(context.Background(), about(part))
		if err != nil {
			t.Fatal(err)
		}
		vectors, err := prompt.Media[0].SoftTokens(context.Background())
		if err != nil || len(vectors) != prompt.Media[0].Count*m.Config().EmbeddingLength {
			t.Fatalf("%d values for %d soft tokens, %v", len(vectors), prompt.Media[0].Count, err)
		}
		key, err := media.Key(&part)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "2.png"), scene, 0o644); err != nil {
			t.Fatal(err)
		}
		if other, _ := media.Key(&part); other == key {
			t.Error("a folder with another frame has the same key")
		}
	})
}

func TestVideoRefuses(t *testing.T) {
	m := open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceCPU, Context: 1024})
	media := attach(t, m)
	var still bytes.Buffer
	if err := png.Encode(&still, image.NewGray(image.Rect(0, 0, 9, 9))); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		part chat.Part
		want error
	}{
		"nothing":        {chat.Part{}, multimodal.ErrNoBytes},
		"elsewhere":      {chat.Part{URL: "https://example.org/a.mp4"}, multimodal.ErrNoBytes},
		"too many":       {chat.Part{Data: movie(t, 2), Frames: 1 << 20}, multimodal.ErrOptions},
		"a wrong budget": {chat.Part{Data: movie(t, 2), Budget: 3}, multimodal.ErrOptions},
		"a wrong rate":   {chat.Part{Data: movie(t, 2), FPS: -1}, video.ErrFrames},
		"a still":        {chat.Part{Data: still.Bytes()}, video.ErrFormat},
		"no sound":       {chat.Part{Data: movie(t, 2), Sound: true}, video.ErrNoSound},
		"no frames":      {chat.Part{Path: t.TempDir()}, video.ErrFrames},
	} {
		c.part.Type = chat.Video
		_, err := media.Prepare(context.Background(), &c.part)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if _, err := multimodal.Attach(m, multimodal.Options{VideoFrames: -1}); !errors.Is(err, multimodal.ErrOptions) {
		t.Error(err)
	}
}

// A progress of frames is told, and a cancelled context ends them.
func TestVideoProgress(t *testing.T) {
	m := open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceCPU, Context: 1024})
	var told []int
	ctx, cancel := context.WithCancel(context.Background())
	media, err := multimodal.Attach(m, multimodal.Options{VideoFrames: 4,
		Progress: func(kind chat.PartType, done, total int) {
			if kind != chat.Video || total != 4 {
				t.Errorf("%s %d of %d", kind, done, total)
			}
			if told = append(told, done); done == 2 {
				cancel()
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = media.Prepare(ctx, &chat.Part{Type: chat.Video, Data: movie(t, 9)})
	if !errors.Is(err, context.Canceled) || !slices.Equal(told, []int{1, 2}) {
		t.Errorf("%v after %v", err, told)
	}
}

package multimodal_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/multimodal"
	"github.com/gemwire/gemwire/multimodal/arch"
	"github.com/gemwire/gemwire/multimodal/sound"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/checkup"
)

const nanoPath = "../testdata/conformance/nano/nano.gguf"

func onEachDevice(t *testing.T, test func(t *testing.T, opts gemma4.OpenOptions)) {
	for _, device := range []gemma4.Device{gemma4.DeviceCPU, gemma4.DeviceGPU} {
		t.Run(string(device), func(t *testing.T) { test(t, gemma4.OpenOptions{Device: device, Context: 1024}) })
	}
}

// mostlyOnTheCPU runs a test on the CPU and, in make test-all, on the GPU, too: it is about what both share.
func mostlyOnTheCPU(t *testing.T, test func(t *testing.T, opts gemma4.OpenOptions)) {
	for _, device := range conformance.Some(1, gemma4.DeviceCPU, gemma4.DeviceGPU) {
		t.Run(string(device), func(t *testing.T) { test(t, gemma4.OpenOptions{Device: device, Context: 1024}) })
	}
}

func openFile(t testing.TB, file *gguf.File, err error, opts gemma4.OpenOptions) *gemma4.Model {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	m, err := gemma4.OpenGGUF(context.Background(), file, opts)
	if errors.Is(err, wgslkit.ErrNoDevice) {
		t.Skip("no GPU: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}

func open(t testing.TB, path string, opts gemma4.OpenOptions) *gemma4.Model {
	t.Helper()
	file, err := gguf.OpenPath(context.Background(), path)
	return openFile(t, file, err, opts)
}

func attach(t testing.TB, m *gemma4.Model) *multimodal.Media {
	t.Helper()
	media, err := multimodal.Attach(m, multimodal.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return media
}

func newSession(t testing.TB, m *gemma4.Model) *gemma4.Session {
	t.Helper()
	s, err := m.NewSession(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// seen is an image or a clip with a question, and what the reference answers.
type seen struct {
	File     string
	Kind     chat.PartType
	Budget   int
	Question string
	Answer   string
}

func nanoCases(t testing.TB) (images, clips []seen) {
	t.Helper()
	raw, err := os.ReadFile("../testdata/conformance/nano/cases.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Images, Clips []seen }
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	for i := range file.Images {
		file.Images[i].Kind = chat.Image
	}
	for i := range file.Clips {
		file.Clips[i].Kind = chat.Audio
	}
	return file.Images, file.Clips
}

func (s seen) message(t testing.TB) chat.Message {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../testdata/conformance/nano", s.File))
	if err != nil {
		t.Fatal(err)
	}
	return chat.Message{Role: chat.User, Content: chat.Parts(
		chat.Part{Type: s.Kind, Data: data, Budget: s.Budget}, chat.Part{Type: chat.TextPart, Text: s.Question})}
}

// answer collects what an answer brings.
func answer(t testing.TB, s *gemma4.Session, c chat.Conversation) (text string, usage gemma4.Usage) {
	t.Helper()
	var b strings.Builder
	for e, err := range s.Chat(context.Background(), c, gemma4.GenerateOptions{MaxTokens: 64}) {
		if err != nil {
			t.Fatal(err)
		}
		b.WriteString(e.Text)
		if e.Usage != nil {
			usage = *e.Usage
		}
	}
	return b.String(), usage
}

func TestNanoSees(t *testing.T) {
	mostlyOnTheCPU(t, func(t *testing.T, opts gemma4.OpenOptions) {
		m := open(t, nanoPath, opts)
		attach(t, m)
		images, _ := nanoCases(t)
		s := newSession(t, m)
		for _, c := range images {
			text, usage := answer(t, s, chat.Conversation{Messages: []chat.Message{c.message(t)}})
			if want := strings.TrimSuffix(c.Answer, "<turn|>"); text != want || usage.Media != 1 {
				t.Errorf("%s: it said %q with %d media encoded, the reference %q", c.File, text, usage.Media, want)
			}
		}
	})
}

// TestKernelsOfTowersAreExamined asks that a picture and a clip take no kernel that was
// not examined.
func TestKernelsOfTowersAreExamined(t *testing.T) {
	conformance.OnlyInAll(t)
	store := checkup.Store{Folder: t.TempDir(), Version: "v1"}
	m := open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceGPU, Context: 1024,
		Kernels: &checkup.Examiner{Keeper: store}})
	attach(t, m)
	images, clips := nanoCases(t)
	text := m.Info().Kernels.Kernels
	s := newSession(t, m)
	for range 2 { // the first time, towers are examined
		stop := m.Kit().Device().TraceKernels()
		for _, c := range []seen{images[0], clips[0]} {
			answer(t, s, chat.Conversation{Messages: []chat.Message{c.message(t)}})
		}
		known := store.Load(m.Kit().Device().Info())
		for _, k := range stop() {
			if !slices.Contains(known.Right, k) {
				t.Errorf("%s was not examined", k.Name)
			}
		}
	}
	if found := m.Info().Kernels; found.Kernels <= text || len(found.LeftOut) > 0 {
		t.Errorf("%d of text, then %+v", text, found)
	}
}

func TestNanoHears(t *testing.T) {
	onEachDevice(t, func(t *testing.T, opts gemma4.OpenOptions) {
		m := open(t, nanoPath, opts)
		attach(t, m)
		_, clips := nanoCases(t)
		s := newSession(t, m)
		for _, c := range clips {
			text, usage := answer(t, s, chat.Conversation{Messages: []chat.Message{c.message(t)}})
			if want := strings.TrimSuffix(c.Answer, "<turn|>"); text != want || usage.Media != 1 {
				t.Errorf("%s: it said %q with %d media encoded, the reference %q", c.File, text, usage.Media, want)
			}
		}
	})
}

// A clip that is too long is refused, or heard in pieces where that is asked for.
func TestLongClips(t *testing.T) {
	m := open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceCPU, Context: 2048})
	attach(t, m)
	noise := make([]byte, 4*2*8000*70) // 70 s of two channels at 8 kHz
	for i := 0; i < len(noise); i += 4 {
		binary.LittleEndian.PutUint32(noise[i:], math.Float32bits(float32(math.Sin(float64(i)))/8))
	}
	part := chat.Part{Type: chat.Audio, Data: noise, Format: chat.Float32, Rate: 8000, Channels: 2}
	said := func(p chat.Part) chat.Message {
		return chat.Message{Role: chat.User, Content: chat.Parts(p,
			chat.Part{Type: chat.TextPart, Text: "Transcribe this audio."})}
	}
	if err := refusal(t, m, said(part)); !errors.Is(err, sound.ErrTooLong) {
		t.Errorf("70 s at once: %v", err)
	}
	part.Split = true
	prompt, err := m.EncodeChat(context.Background(), chat.Conversation{Messages: []chat.Message{said(part)}})
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, medium := range prompt.Media {
		total += medium.Count
	}
	if len(prompt.Media) != 3 || total < 1745 || total > 1755 {
		t.Errorf("70 s became %d clips of %d soft tokens in all", len(prompt.Media), total)
	}
}

func TestFollowUpEncodesNothing(t *testing.T) {
	mostlyOnTheCPU(t, func(t *testing.T, opts gemma4.OpenOptions) {
		m := open(t, nanoPath, opts)
		media := attach(t, m)
		images, _ := nanoCases(t)
		s := newSession(t, m)
		c := chat.Conversation{Messages: []chat.Message{images[0].message(t)}}
		text, _ := answer(t, s, c)
		media.Release()
		c.Messages = append(c.Messages, chat.Message{Role: chat.Assistant, Content: chat.Text(text)},
			chat.Message{Role: chat.User, Content: chat.Text("What is the capital of Peru?")})
		_, usage := answer(t, s, c)
		if usage.Media != 0 || usage.Computed > usage.Prompt/2 {
			t.Errorf("a follow-up encoded %d media and computed %d of %d tokens", usage.Media, usage.Computed,
				usage.Prompt)
		}
	})
}

func TestModelsOfTwoFiles(t *testing.T) {
	path, mmproj := conformance.NanoInTwo(t)
	images, _ := nanoCases(t)
	opts := gemma4.OpenOptions{Device: gemma4.DeviceCPU, Context: 512}
	file, err := gguf.OpenPath(context.Background(), path, gguf.WithProjector(mmproj))
	m := openFile(t, file, err, opts)
	attach(t, m)
	text, _ := answer(t, newSession(t, m), chat.Conversation{Messages: []chat.Message{images[1].message(t)}})
	if want := strings.TrimSuffix(images[1].Answer, "<turn|>"); text != want {
		t.Errorf("it said %q, the reference %q", text, want)
	}
	blind := open(t, path, opts)
	if media := attach(t, blind); media.Images() || media.Audio() {
		t.Error("a text file sees or hears")
	}
	err = refusal(t, blind, images[1].message(t))
	if !errors.Is(err, arch.ErrNoVision) || !strings.Contains(err.Error(), "mmproj") {
		t.Errorf("a picture for a text file: %v", err)
	}
}

// A session saved without the projector goes on beside it, and the other way round.
func TestSessionsOutliveTheProjector(t *testing.T) {
	text, mmproj := conformance.NanoInTwo(t)
	opts := gemma4.OpenOptions{Device: gemma4.DeviceCPU, Context: 512}
	file, err := gguf.OpenPath(context.Background(), text, gguf.WithProjector(mmproj))
	seeing := openFile(t, file, err, opts)
	blind := open(t, text, opts)
	question := chat.Conversation{Messages: []chat.Message{{Role: chat.User,
		Content: chat.Text("What is the capital of Peru?")}}}
	for _, pair := range [][2]*gemma4.Model{{seeing, blind}, {blind, seeing}} {
		from, to := newSession(t, pair[0]), newSession(t, pair[1])
		answer(t, from, question)
		var saved bytes.Buffer
		if err := from.Save(&saved); err != nil {
			t.Fatal(err)
		}
		if err := to.Restore(&saved); err != nil || to.Len() != from.Len() {
			t.Errorf("%d of %d tokens came back: %v", to.Len(), from.Len(), err)
		}
	}
}

// Towers may be released while others encode: they come back.
func TestReleaseAtAnyTime(t *testing.T) {
	m := open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceCPU, Context: 512})
	media := attach(t, m)
	_, clips := nanoCases(t)
	part := clips[0].message(t).Content.Parts()[0]
	prepared, err := media.Prepare(context.Background(), &part)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	for range 3 {
		go func() {
			_, err := prepared[0].Encode(context.Background())
			media.Release()
			done <- err
		}()
	}
	for range 3 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// refusal is the error that a conversation of one message ends in.
func refusal(t testing.TB, m *gemma4.Model, message chat.Message) error {
	t.Helper()
	for _, err := range newSession(t, m).Chat(context.Background(),
		chat.Conversation{Messages: []chat.Message{message}}, gemma4.GenerateOptions{}) {
		if err != nil {
			return err
		}
	}
	t.Fatal("it answered")
	return nil
}

func TestRefusals(t *testing.T) {
	m := open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceCPU, Context: 512})
	attach(t, m)
	images, _ := nanoCases(t)
	good := images[0].message(t).Content.Parts()[0]
	for name, c := range map[string]struct {
		part chat.Part
		want error
	}{
		"a small budget": {chat.Part{Type: chat.Image, Data: good.Data, Budget: 3}, multimodal.ErrOptions},
		"a large budget": {chat.Part{Type: chat.Image, Data: good.Data, Budget: 5000}, multimodal.ErrOptions},
		"no bytes":       {chat.Part{Type: chat.Image}, multimodal.ErrNoBytes},
		"an address":     {chat.Part{Type: chat.Image, URL: "https://example.com/cat.png"}, multimodal.ErrNoBytes},
		"over the room":  {chat.Part{Type: chat.Image, Data: good.Data, Budget: 1120}, gemma4.ErrContextFull},
	} {
		err := refusal(t, m, chat.Message{Role: chat.User, Content: chat.Parts(c.part)})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := multimodal.Attach(m, multimodal.Options{ImageBudget: 12}); !errors.Is(err, multimodal.ErrOptions) {
		t.Errorf("a default budget of 12: %v", err)
	}
}

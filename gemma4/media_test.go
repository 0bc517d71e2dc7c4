package gemma4_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/parity"
	"github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/gguf/safetensors"
	"github.com/gemwire/gemwire/wgslkit"
)

// mediaCase is an image or a clip of a conformance case, with the soft tokens
// that the reference computed.
type mediaCase struct {
	name       string
	Kind       chat.PartType
	File       string
	SoftTokens int `json:"soft_tokens"`
	IDs        []int32
	Greedy     []int32
	Margins    []float64
	soft       []float32
	logits     []float32 // of the last positions
}

func readMediaCases(t testing.TB, name string) []mediaCase {
	t.Helper()
	raw, err := os.ReadFile(conformance.Path(t, name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Images, Clips []mediaCase }
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	if raw, err = os.ReadFile(conformance.Path(t, name+".safetensors")); err != nil {
		t.Fatal(err)
	}
	reference, err := safetensors.Read(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		t.Fatal(err)
	}
	for i := range file.Images {
		file.Images[i].Kind = chat.Image
	}
	for i := range file.Clips {
		file.Clips[i].Kind = chat.Audio
	}
	cases := append(file.Images, file.Clips...)
	for i := range cases {
		c := &cases[i]
		c.name = strings.TrimSuffix(c.File, filepath.Ext(c.File))
		if c.soft, err = reference.Floats(c.name + ".soft"); err != nil {
			t.Fatal(err)
		}
		if c.IDs != nil {
			if c.logits, err = reference.Floats(c.name + ".logits"); err != nil {
				t.Fatal(err)
			}
		}
	}
	return cases
}

// medium is the case's soft tokens from a position on.
func (c *mediaCase) medium(first int) gemma4.Medium {
	return gemma4.Medium{
		First: first, Count: c.SoftTokens, Kind: c.Kind, Key: c.name,
		SoftTokens: func(context.Context) ([]float32, error) { return c.soft, nil },
	}
}

// prompt is the case's: its soft tokens stand where as many equal ids do.
func (c *mediaCase) prompt(t testing.TB) gemma4.Prompt {
	t.Helper()
	for first := range c.IDs {
		n := 0
		for first+n < len(c.IDs) && c.IDs[first+n] == c.IDs[first] {
			n++
		}
		if n == c.SoftTokens {
			return gemma4.Prompt{Tokens: c.IDs, Media: []gemma4.Medium{c.medium(first)}}
		}
	}
	t.Fatalf("%s: no run of %d equal ids", c.name, c.SoftTokens)
	return gemma4.Prompt{}
}

func logitsOf(t testing.TB, s *gemma4.Session, p gemma4.Prompt) []float32 {
	t.Helper()
	var rows []float32
	err := s.Logits(context.Background(), p, func(_ int, row []float32) error {
		rows = append(rows, row...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func tolerance(m *gemma4.Model) float64 {
	if m.Info().Device == gemma4.DeviceCPU {
		return 1e-5
	}
	return 2e-3
}

func TestSoftTokens(t *testing.T) {
	for _, name := range conformance.Some(1, "e2b", "types", "dense", "moe") {
		t.Run(name, func(t *testing.T) {
			path := conformance.Path(t, name+".gguf")
			cases := readMediaCases(t, name)
			onEachDevice(t, func(t *testing.T, opts gemma4.OpenOptions) {
				m := open(t, path, opts)
				for _, c := range cases {
					if c.IDs == nil {
						continue
					}
					s := newSession(t, m, 512)
					rows := logitsOf(t, s, c.prompt(t))
					if e := parity.RelativeError(rows[len(rows)-len(c.logits):], c.logits); e > tolerance(m) {
						t.Errorf("%s: logits are %.2g off", c.name, e)
					}
					checkGreedy(t, newSession(t, m, 512), &c)
				}
			})
		})
	}
}

// Where rows of the tables come from the file, soft tokens stand among them too.
func TestSoftTokensRowByRow(t *testing.T) {
	path := conformance.Path(t, "e2b.gguf")
	plan := open(t, path, gemma4.OpenOptions{Device: gemma4.DeviceGPU, Context: 512}).Info().Plan
	m := open(t, path, gemma4.OpenOptions{
		Device: gemma4.DeviceGPU, Context: 512, GPU: wgslkit.Options{MemoryBudget: plan.Total() - 100_000},
	})
	if m.Info().Plan.Rows == 0 {
		t.Fatal("no table stays in the file")
	}
	s := newSession(t, m, 512)
	for _, c := range readMediaCases(t, "e2b") {
		if c.IDs != nil {
			checkGreedy(t, s, &c)
		}
	}
}

// checkGreedy follows the reference's tokens up to one that it was not sure of.
func checkGreedy(t *testing.T, s *gemma4.Session, c *mediaCase) {
	t.Helper()
	var got []int32
	for choice, err := range s.Choose(context.Background(), c.prompt(t), gemma4.Choosing{MaxTokens: len(c.Greedy)}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, choice.Token)
	}
	for i, want := range c.Greedy {
		if got[i] == want {
			continue
		}
		if c.Margins[i] >= 0.02 {
			t.Errorf("%s: token %d is %d, wanted %d (margin %.3f)", c.name, i, got[i], want, c.Margins[i])
		}
		return
	}
}

// longPrompt is text, then all the media with text between them.
func longPrompt(cases []mediaCase) gemma4.Prompt {
	text := cases[0].IDs[:4]
	var p gemma4.Prompt
	for range 20 {
		p.Tokens = append(p.Tokens, text...)
	}
	for i := range cases {
		c := &cases[i]
		p.Media = append(p.Media, c.medium(len(p.Tokens)))
		p.Tokens = append(p.Tokens, slices.Repeat([]int32{cases[0].IDs[6]}, c.SoftTokens)...)
		p.Tokens = append(p.Tokens, text...)
	}
	return p
}

// Images larger than a chunk, in the middle of what is there: the GPU computes
// what the CPU does, however the prompt comes.
func TestManyMedia(t *testing.T) {
	for _, name := range conformance.Some(1, "e2b", "dense") {
		t.Run(name, func(t *testing.T) {
			path := conformance.Path(t, name+".gguf")
			p := longPrompt(readMediaCases(t, name)[:2])
			cpu := open(t, path, gemma4.OpenOptions{Device: gemma4.DeviceCPU, Context: 1024})
			want := logitsOf(t, newSession(t, cpu, 0), p)
			vocab := cpu.Info().Vocab
			checkMany(t, path, p, want, vocab)
		})
	}
}

func checkMany(t *testing.T, path string, p gemma4.Prompt, want []float32, vocab int) {
	gpu := open(t, path, gemma4.OpenOptions{Device: gemma4.DeviceGPU, Context: 1024})
	s := newSession(t, gpu, 0)
	if e := parity.RelativeError(logitsOf(t, s, p), want); e > tolerance(gpu) {
		t.Errorf("logits at once are %.2g off", e)
	}
	// In two parts: what the second finds in the caches was there before its
	// widest image came.
	parts := newSession(t, gpu, 0)
	cut := p.Media[1].First - 3
	head := gemma4.Prompt{Tokens: p.Tokens[:cut], Media: p.Media[:1]}
	tokens := choosePrompt(t, parts, head, 1)
	if best := argmax(want[(cut-1)*vocab : cut*vocab]); tokens[0] != best {
		t.Errorf("behind %d tokens it chose %d, the CPU %d", cut, tokens[0], best)
	}
	tokens = choosePrompt(t, parts, p, 1)
	if best := argmax(want[len(want)-vocab:]); tokens[0] != best {
		t.Errorf("in two parts it chose %d, the CPU %d", tokens[0], best)
	}
}

func choosePrompt(t *testing.T, s *gemma4.Session, p gemma4.Prompt, n int) []int32 {
	t.Helper()
	var tokens []int32
	for choice, err := range s.Choose(context.Background(), p, gemma4.Choosing{MaxTokens: n}) {
		if err != nil {
			t.Fatal(err)
		}
		tokens = append(tokens, choice.Token)
	}
	return tokens
}

func argmax(row []float32) int32 {
	best := 0
	for i, v := range row {
		if v > row[best] {
			best = i
		}
	}
	return int32(best)
}

// encoder is a gemma4.MediaEncoder whose soft tokens are a case's. It counts.
type encoder struct {
	of                map[string]*mediaCase
	prepared, encoded int
}

func (e *encoder) Key(p *chat.Part) (string, error) {
	if e.of[string(p.Data)] == nil {
		return "", errors.New("no such picture")
	}
	return string(p.Data), nil
}

func (e *encoder) Prepare(_ context.Context, p *chat.Part) ([]gemma4.PreparedMedium, error) {
	e.prepared++
	return []gemma4.PreparedMedium{prepared{e, e.of[string(p.Data)]}}, nil
}

type prepared struct {
	*encoder
	c *mediaCase
}

func (p prepared) Count() int { return p.c.SoftTokens }

func (p prepared) Encode(context.Context) ([]float32, error) {
	p.encoded++
	return p.c.soft, nil
}

func picture(name, question string) chat.Message {
	return chat.Message{Role: chat.User, Content: chat.Parts(
		chat.Part{Type: chat.Image, Data: []byte(name)}, chat.Part{Type: chat.TextPart, Text: question})}
}

func attached(t *testing.T, opts gemma4.OpenOptions) (*gemma4.Model, *encoder) {
	t.Helper()
	path := conformance.Path(t, "e2b.gguf")
	e := &encoder{of: map[string]*mediaCase{}}
	for _, c := range readMediaCases(t, "e2b") {
		e.of[c.name] = &c
	}
	m := open(t, path, opts)
	m.SetMedia(e)
	return m, e
}

func TestPicturesAreKept(t *testing.T) {
	mostlyOnTheCPU(t, func(t *testing.T, opts gemma4.OpenOptions) {
		m, e := attached(t, opts)
		s := newSession(t, m, 0)
		c := chat.Conversation{Messages: []chat.Message{picture("wide", "What is this?")}}
		ask := func(wantMedia, wantPrepared, wantEncoded int) {
			t.Helper()
			_, last := answer(t, s, c, gemma4.GenerateOptions{MaxTokens: 4})
			if last.Usage.Media != wantMedia || e.prepared != wantPrepared || e.encoded != wantEncoded {
				t.Errorf("%d media computed, %d prepared and %d encoded in all; wanted %d, %d and %d", last.Usage.Media,
					e.prepared, e.encoded, wantMedia, wantPrepared, wantEncoded)
			}
		}
		ask(1, 1, 1)
		c.Messages = append(c.Messages, chat.Message{Role: chat.Assistant, Content: chat.Text("A picture.")},
			picture("tiny", "And this?"))
		ask(1, 2, 2)
		c.Messages[0] = picture("tiny", "What is this?") // another one in its place: the session knows it
		ask(0, 2, 2)
		c.Messages = c.Messages[:1]
		first, _ := answer(t, s, c, gemma4.GenerateOptions{MaxTokens: 4})
		fresh, _ := answer(t, newSession(t, m, 0), c, gemma4.GenerateOptions{MaxTokens: 4})
		if first != fresh {
			t.Errorf("with what was cached it said %q, without %q", first, fresh)
		}
	})
}

func TestSavedPictures(t *testing.T) {
	mostlyOnTheCPU(t, func(t *testing.T, opts gemma4.OpenOptions) {
		m, e := attached(t, opts)
		s := newSession(t, m, 0)
		c := chat.Conversation{Messages: []chat.Message{picture("wide", "What is this?")}}
		text, _ := answer(t, s, c, gemma4.GenerateOptions{MaxTokens: 1})
		var saved bytes.Buffer
		if err := s.Save(&saved); err != nil {
			t.Fatal(err)
		}
		restored := newSession(t, m, 0)
		if err := restored.Restore(bytes.NewReader(saved.Bytes())); err != nil {
			t.Fatal(err)
		}
		c.Messages = append(c.Messages, chat.Message{Role: chat.Assistant, Content: chat.Text(text)},
			user("Really?").Messages[0])
		_, last := answer(t, restored, c, gemma4.GenerateOptions{MaxTokens: 2})
		if e.encoded != 1 || last.Usage.Computed > last.Usage.Prompt/2 {
			t.Errorf("after a restore: %d encoded, %d of %d tokens computed", e.encoded, last.Usage.Computed,
				last.Usage.Prompt)
		}
		for name, media := range map[string]string{
			"behind the text":   `"media":[{"first":100000,"count":3,"kind":"image","key":"k"}]`,
			"of negative place": `"media":[{"first":-5,"count":3,"kind":"image","key":"k"}]`,
			"without a key":     `"media":[{"first":5,"count":3,"kind":"image","key":""}]`,
		} {
			if err := restored.Restore(bytes.NewReader(withHeader(saved.Bytes(), media))); !errors.Is(err,
				gemma4.ErrSavedSession) {
				t.Errorf("a medium %s: %v", name, err)
			}
		}
	})
}

// withHeader puts other media into a saved session.
func withHeader(saved []byte, media string) []byte {
	const start = len("gemwire session 1\n") + 4
	n := int(uint32(saved[start-4]) | uint32(saved[start-3])<<8 | uint32(saved[start-2])<<16 | uint32(saved[start-1])<<24)
	header := string(saved[start : start+n])
	at := strings.Index(header, `"media":[`)
	end := at + strings.Index(header[at:], "]") + 1
	header = header[:at] + media + header[end:]
	size := []byte{byte(len(header)), byte(len(header) >> 8), byte(len(header) >> 16), byte(len(header) >> 24)}
	return slices.Concat(saved[:start-4], size, []byte(header), saved[start+n:])
}

func TestRefusedMedia(t *testing.T) {
	m := open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceCPU, Context: 256})
	s := newSession(t, m, 0)
	_, err := firstEvent(s.Chat(context.Background(), chat.Conversation{Messages: []chat.Message{picture("wide", "?")}},
		gemma4.GenerateOptions{}))
	if !errors.Is(err, gemma4.ErrUnsupported) {
		t.Errorf("a picture and no encoder: %v", err)
	}
	none := func(context.Context) ([]float32, error) { return nil, nil }
	for name, media := range map[string][]gemma4.Medium{
		"outside": {{First: 2, Count: 3, Key: "k", SoftTokens: none}},
		"empty":   {{First: 2, Key: "k", SoftTokens: none}},
		"overlapping": {{First: 0, Count: 2, Key: "k", SoftTokens: none},
			{First: 1, Count: 2, Key: "k", SoftTokens: none}},
		"without a key": {{First: 0, Count: 2, SoftTokens: none}},
		"too short":     {{First: 0, Count: 2, Key: "k", SoftTokens: none}},
		"unknown":       {{First: 0, Count: 2, Key: "k"}},
	} {
		_, err := first(s.Choose(context.Background(), gemma4.Prompt{Tokens: []int32{2, 5, 6, 7}, Media: media},
			gemma4.Choosing{MaxTokens: 1}))
		if !errors.Is(err, gemma4.ErrUnsupported) {
			t.Errorf("a medium %s: %v", name, err)
		}
	}
}

func firstEvent(events func(func(gemma4.Event, error) bool)) (event gemma4.Event, err error) {
	for event, err = range events {
		return event, err
	}
	return event, fmt.Errorf("no event")
}

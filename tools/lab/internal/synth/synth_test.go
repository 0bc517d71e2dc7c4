package synth

import (
	"bytes"
	"context"
	"errors"
	"hash/fnv"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gemma4/nano"
	"github.com/gemwire/gemwire/gemma4/tokenizer"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/quant"
)

func shape(t *testing.T, name string, layers, vocab int) Shape {
	t.Helper()
	s, err := Named(name)
	if err != nil {
		t.Fatal(err)
	}
	if layers > 0 {
		if s, err = s.WithLayers(layers); err != nil {
			t.Fatal(err)
		}
	}
	if vocab > 0 {
		s = s.WithVocab(vocab)
	}
	return s
}

func write(t *testing.T, o Options) ([]byte, Summary) {
	t.Helper()
	var b bytes.Buffer
	summary, err := Write(context.Background(), &b, o)
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), summary
}

// headWriter keeps the beginning of what is written, and its length.
type headWriter struct {
	head []byte
	size int64
}

func (w *headWriter) Write(p []byte) (int, error) {
	if room := 64<<20 - len(w.head); room > 0 {
		w.head = append(w.head, p[:min(room, len(p))]...)
	}
	w.size += int64(len(p))
	return len(p), nil
}

func (w *headWriter) Size() int64  { return w.size }
func (w *headWriter) Close() error { return nil }

// ReadAt reads zeros where nothing was kept.
func (w *headWriter) ReadAt(p []byte, off int64) (int, error) {
	clear(p)
	if off < int64(len(w.head)) {
		copy(p, w.head[off:])
	}
	return len(p), nil
}

// TestEveryShapeIsAModel reads the header of each shape's file.
func TestEveryShapeIsAModel(t *testing.T) {
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			s := shape(t, name, 0, 2048)
			// The header tells enough; the weights are cut off.
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			var w headWriter
			summary, err := Write(ctx, &w, Options{Shape: s, Seed: 1, Progress: func(int64, int64) { cancel() }})
			if !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			w.size = int64(len(w.head)) + summary.Bytes + 32*int64(summary.Tensors)
			file, err := gguf.Open(context.Background(), &w)
			if err != nil {
				t.Fatal(err)
			}
			m, err := arch.Open(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(file.Tensors) != summary.Tensors {
				t.Errorf("%d tensors, the summary says %d", len(file.Tensors), summary.Tensors)
			}
			checkConfig(t, s, m.Config)
		})
	}
}

func checkConfig(t *testing.T, s Shape, c *arch.Config) {
	t.Helper()
	type layer struct {
		Sliding, Own, KeyIsValue, MoE bool
		HeadDim, KVHeads, FeedForward int
	}
	for i := range s.Layers {
		want := layer{
			!s.global(
				i), i < s.owners(), s.KeyIsValue && s.global(i), s.Experts > 0, s.headDim(i), s.kvHeads(i),
			s.feedForward(i),
		}
		got := layer{
			c.IsSliding(i), c.HasOwnKV(i), c.KEqualsV(i), c.IsMoE(i), c.HeadDim(i), c.KVHeads(i), c.FeedForward(i),
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("layer %d: %s", i, d)
		}
	}
	if c.EmbeddingLength != s.Width || c.Vocab != s.Vocab || c.PerLayerDim != s.PerLayer ||
		c.SlidingWindow != s.Window {
		t.Errorf("config %+v of shape %+v", c, s)
	}
}

// TestRealSizes compares with what is known of the released models: the
// numbers of tensors by type of 12B's and 31B's files, and E2B's weights.
func TestRealSizes(t *testing.T) {
	for _, c := range []struct {
		name  string
		mix   Mix
		types map[string]int
	}{
		{"12b", LlamaCppMix, map[string]int{"F32": 338, "Q4_K": 284, "Q6_K": 45}},
		{"31b", LlamaCppMix, map[string]int{"F32": 422}},
	} {
		summary, err := Summarize(Options{Shape: shape(t, c.name, 0, 0), Mix: c.mix})
		if err != nil {
			t.Fatal(err)
		}
		for name, want := range c.types {
			if got := summary.Types[name].Tensors; got != want {
				t.Errorf("%s has %d tensors of %s, the released file %d", c.name, got, name, want)
			}
		}
	}
	llama, err := Summarize(Options{Shape: shape(t, "e2b", 0, 0), Mix: LlamaCppMix})
	if err != nil {
		t.Fatal(err)
	}
	const table = 8960 * 262144
	if active := llama.Weights - table; active < 2_200_000_000 || active > 2_300_000_000 {
		t.Errorf("E2B has %d weights beside its table, wanted about 2.28 G", active)
	}
}

func TestSeeds(t *testing.T) {
	sum := func(o Options) uint64 {
		h := fnv.New64a()
		if _, err := Write(context.Background(), h, o); err != nil {
			t.Fatal(err)
		}
		return h.Sum64()
	}
	for _, s := range []Shape{shape(t, "nano", 0, 0), shape(t, "e2b", 2, 2048)} {
		first := sum(Options{Shape: s, Seed: 7})
		if again := sum(Options{Shape: s, Seed: 7}); again != first {
			t.Errorf("%s: one seed gives two files", s.Name)
		}
		if other := sum(Options{Shape: s, Seed: 8}); other == first {
			t.Errorf("%s: two seeds give one file", s.Name)
		}
	}
}

// TestComputes runs models on the CPU: logits are finite and vary, and a
// conversation is answered.
func TestComputes(t *testing.T) {
	if testing.Short() {
		t.Skip("computes with 200 million weights")
	}
	for _, s := range []Shape{shape(t, "nano", 0, 0), shape(t, "e2b", 5, 2048)} {
		t.Run(s.Name, func(t *testing.T) {
			data, _ := write(t, Options{Shape: s, Seed: 3})
			m, err := gemma4.Open(context.Background(), gguf.Memory(data),
				gemma4.OpenOptions{Device: gemma4.DeviceCPU, Context: 64})
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close()
			session, err := m.NewSession(0)
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			if err := session.Logits(context.Background(), gemma4.Tokens([]int32{2, 700, 41, 1999}),
				func(i int, row []float32) error {
					checkLogits(t, i, row)
					return nil
				}); err != nil {
				t.Fatal(err)
			}
			conversation := chat.Conversation{Messages: []chat.Message{{Role: "user", Content: chat.Text("Hi")}}}
			for _, err := range session.Chat(context.Background(), conversation, gemma4.GenerateOptions{MaxTokens: 3}) {
				if err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func checkLogits(t *testing.T, position int, row []float32) {
	t.Helper()
	var sum, squares float64
	for _, v := range row {
		sum += float64(v)
		squares += float64(v) * float64(v)
	}
	n := float64(len(row))
	deviation := math.Sqrt(squares/n - sum/n*sum/n)
	if !(deviation > 0.3 && deviation < 5) { // NaN fails too
		t.Errorf("logits of position %d have deviation %v", position, deviation)
	}
}

// TestNoEncoder checks the blocks that are made without one.
func TestNoEncoder(t *testing.T) {
	r, err := source(quant.Q5_0, 0.25, 5)
	if err != nil {
		t.Fatal(err)
	}
	raw, values := make([]byte, 22*4096), make([]float32, 32*4096)
	if _, err := r.Read(raw); err != nil {
		t.Fatal(err)
	}
	if err := quant.Q5_0.Dequantize(values, raw); err != nil {
		t.Fatal(err)
	}
	var squares float64
	for _, v := range values {
		squares += float64(v) * float64(v)
	}
	if d := math.Sqrt(squares / float64(len(values))); math.Abs(d-0.25) > 0.005 {
		t.Errorf("deviation %v, wanted 0.25", d)
	}
}

func TestRefusals(t *testing.T) {
	if _, err := Named("99b"); !errors.Is(err, ErrShape) {
		t.Errorf("Named: %v", err)
	}
	small := shape(t, "nano", 0, 0)
	if _, err := small.WithLayers(0); !errors.Is(err, ErrShape) {
		t.Errorf("WithLayers(0): %v", err)
	}
	if _, err := Write(context.Background(), &headWriter{}, Options{Shape: small.WithVocab(10)}); !errors.Is(err,
		ErrShape) {
		t.Errorf("ten tokens: %v", err)
	}
	if _, err := Write(context.Background(), &headWriter{}, Options{Shape: small, Mix: "other"}); !errors.Is(err,
		ErrMix) {
		t.Errorf("another mix: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Write(ctx, &headWriter{}, Options{Shape: small}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestVocabulary encodes a made-up piece of a vocabulary of the real size.
func TestVocabulary(t *testing.T) {
	base, err := gguf.Open(context.Background(), nano.Source())
	if err != nil {
		t.Fatal(err)
	}
	defer base.Close()
	v, err := tokenizer.VocabularyFromGGUF(base.Meta)
	if err != nil {
		t.Fatal(err)
	}
	full := v
	full.Tokens, full.Merges = grow(v, realVocab)
	full.Scores = nil
	full.Types = append(
		slices.Clone(v.Types),
		slices.Repeat([]tokenizer.TokenType{tokenizer.Normal}, realVocab-len(v.Types))...)
	if len(full.Tokens) != realVocab {
		t.Fatalf("%d tokens", len(full.Tokens))
	}
	tok, err := tokenizer.New(full)
	if err != nil {
		t.Fatal(err)
	}
	const turn = "<|turn>user\n"
	small, err := tokenizer.New(v)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := tok.EncodeSpecial(turn)[0], small.EncodeSpecial(turn)[0]; got != want {
		t.Errorf("the first token of %q is %d, in the small vocabulary %d", turn, got, want)
	}
	const text = "the capital of France"
	if got, most := len(tok.EncodeSpecial(text)), len(small.EncodeSpecial(text)); got >= most {
		t.Errorf("%q is %d tokens, no fewer than the %d of the small vocabulary", text, got, most)
	}
}

package perplexity

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
)

const (
	vocab = 37 // odd: rows of a base file are padded
	bos   = 2
)

// bigrams is a model whose logits depend on the last token alone, and a little on whether the text begins as it should.
type bigrams struct {
	t      testing.TB
	logits [vocab][vocab]float32
	sizes  []int
}

func newBigrams(t testing.TB, seed uint64, spread float64) *bigrams {
	b := &bigrams{t: t}
	random := rand.New(rand.NewPCG(seed, 1))
	for i := range b.logits {
		for j := range b.logits[i] {
			b.logits[i][j] = float32(spread * random.NormFloat64())
		}
	}
	return b
}

func (b *bigrams) Logits(_ context.Context, p gemma4.Prompt, each func(i int, row []float32) error) error {
	if p.Tokens[0] != bos {
		b.t.Errorf("a chunk begins with %d", p.Tokens[0])
	}
	b.sizes = append(b.sizes, len(p.Tokens))
	for i, token := range p.Tokens {
		if err := each(i, b.logits[token][:]); err != nil {
			return err
		}
	}
	return nil
}

// probability is the softmax, as one writes it down.
func (b *bigrams) probability(last, next int32) float64 {
	sum := 0.0
	for _, v := range b.logits[last] {
		sum += math.Exp(float64(v))
	}
	return math.Exp(float64(b.logits[last][next])) / sum
}

func text(n int) []int32 {
	random, tokens := rand.New(rand.NewPCG(9, 9)), make([]int32, n)
	for i := range tokens {
		tokens[i] = int32(random.IntN(vocab))
	}
	return tokens
}

// judgedPairs are the pairs of tokens that llama-perplexity judges: of each chunk, those whose second is at n/2+1 to
// n−1.
func judgedPairs(tokens []int32, size int) (pairs [][2]int32) {
	tokens = append([]int32{bos}, tokens...)
	for start := 0; start+size <= len(tokens); start += size {
		for j := start + size/2; j < start+size-1; j++ {
			pairs = append(pairs, [2]int32{tokens[j], tokens[j+1]})
		}
	}
	return pairs
}

func near(t *testing.T, what string, got, want, within float64) {
	t.Helper()
	if !(math.Abs(got-want) <= within*max(1, math.Abs(want))) {
		t.Errorf("%s is %.9g, wanted %.9g", what, got, want)
	}
}

func TestMeasure(t *testing.T) {
	for _, size := range []int{8, 9, 64} {
		model, tokens := newBigrams(t, 1, 1.5), text(200)
		got, err := Measure(context.Background(), model, tokens, Options{Context: size, BOS: bos})
		if err != nil {
			t.Fatal(err)
		}
		pairs := judgedPairs(tokens, size)
		var losses []float64
		mean := 0.0
		for _, p := range pairs {
			losses = append(losses, -math.Log(model.probability(p[0], p[1])))
			mean += losses[len(losses)-1] / float64(len(pairs))
		}
		variance := 0.0
		for _, l := range losses {
			variance += (l - mean) * (l - mean) / float64(len(pairs)-1)
		}
		if got.Tokens != len(pairs) || got.Chunks != 201/size || got.Context != size {
			t.Errorf("size %d: %+v, wanted %d tokens", size, got, len(pairs))
		}
		near(t, "loss", got.Loss, mean, 1e-6)
		near(t, "perplexity", got.Perplexity.Value, math.Exp(mean), 1e-6)
		near(t, "its error", got.Perplexity.Error, math.Exp(mean)*math.Sqrt(variance/float64(len(pairs))), 1e-6)
		if slices.Max(model.sizes) > size {
			t.Errorf("size %d: %d tokens were computed at once", size, slices.Max(model.sizes))
		}
	}
}

func measureBase(t *testing.T, model *bigrams, tokens []int32, size int) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := Measure(context.Background(), model, tokens, Options{Context: size, BOS: bos, Base: &b}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func compare(t *testing.T, model *bigrams, file []byte) Comparison {
	t.Helper()
	base, err := OpenBase(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	c, err := Compare(context.Background(), model, base, Options{BOS: bos})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCompare(t *testing.T) {
	base, model, tokens := newBigrams(t, 1, 1.5), newBigrams(t, 1, 1.5), text(300)
	random := rand.New(rand.NewPCG(5, 5))
	for i := range model.logits {
		for j := range model.logits[i] {
			model.logits[i][j] += float32(0.3 * random.NormFloat64())
		}
	}
	const size = 20
	got := compare(t, model, measureBase(t, base, tokens, size))
	pairs := judgedPairs(tokens, size)
	n := float64(len(pairs))
	var kl, same, delta, squares, loss, baseLoss float64
	var divergences []float64
	for _, p := range pairs {
		sum, top, baseTop := 0.0, int32(0), int32(0)
		for j := range int32(vocab) {
			q := base.probability(p[0], j)
			sum += q * math.Log(q/model.probability(p[0], j))
			if model.logits[p[0]][j] > model.logits[p[0]][top] {
				top = j
			}
			if base.logits[p[0]][j] > base.logits[p[0]][baseTop] {
				baseTop = j
			}
		}
		divergences = append(divergences, sum)
		kl += sum / n
		if top == baseTop {
			same += 1 / n
		}
		d := model.probability(p[0], p[1]) - base.probability(p[0], p[1])
		delta += d / n
		squares += d * d / n
		loss -= math.Log(model.probability(p[0], p[1])) / n
		baseLoss -= math.Log(base.probability(p[0], p[1])) / n
	}
	slices.Sort(divergences)
	near(t, "mean divergence", got.KLDivergence.Value, kl, 2e-4)
	near(t, "largest divergence", got.KLQuantiles.Max, divergences[len(divergences)-1], 2e-4)
	near(t, "smallest divergence", got.KLQuantiles.Min, divergences[0], 2e-4)
	near(t, "share of same tops", got.SameTop.Value, same, 1e-9)
	near(t, "mean delta", got.MeanDelta.Value, delta, 2e-4)
	near(t, "rms delta", got.RMSDelta.Value, math.Sqrt(squares), 2e-4)
	near(t, "perplexity", got.Perplexity.Value, math.Exp(loss), 1e-6)
	near(t, "base's perplexity", got.BasePerplexity.Value, math.Exp(baseLoss), 2e-4)
	near(t, "ratio", got.Ratio.Value, math.Exp(loss-baseLoss), 2e-4)
	if got.Correlation < 0.9 || got.Correlation > 1 || got.LogRatio.Error <= 0 || got.Tokens != len(pairs) {
		t.Errorf("%+v", got)
	}
}

// A model is its own base.
func TestCompareWithItself(t *testing.T) {
	model := newBigrams(t, 1, 3)
	got := compare(t, model, measureBase(t, model, text(300), 16))
	near(t, "divergence", got.KLDivergence.Value, 0, 1e-4)
	near(t, "ratio", got.Ratio.Value, 1, 1e-4)
	near(t, "same tops", got.SameTop.Value, 1, 0)
	near(t, "correlation", got.Correlation, 1, 1e-4)
}

// A row is what llama.cpp's log_softmax stores: steps of a 65535th between the largest logit and 16 below.
func TestBaseRow(t *testing.T) {
	var b bytes.Buffer
	w, err := newBaseWriter(&b, 4, 3, []int32{0, 1, 2, 0})
	if err != nil {
		t.Fatal(err)
	}
	head := b.Len()
	logits := []float32{1, -40, -3}
	if err := w.write(logits, logSumExp(logits)); err != nil {
		t.Fatal(err)
	}
	row := b.Bytes()[head:]
	scale := math.Float32frombits(binary.LittleEndian.Uint32(row))
	low := math.Float32frombits(binary.LittleEndian.Uint32(row[4:]))
	near(t, "scale", float64(scale), 16.0/65535, 1e-6)
	near(t, "low", float64(low), -15-math.Log(math.E+math.Exp(-3)), 1e-6)
	var q []uint16
	for i := range 4 {
		q = append(q, binary.LittleEndian.Uint16(row[8+2*i:]))
	}
	if want := []uint16{65535, 0, 49151, 0}; !slices.Equal(q, want) || len(row) != 16 {
		t.Errorf("%d in %d bytes, wanted %d", q, len(row), want)
	}
}

func TestRefusals(t *testing.T) {
	model := newBigrams(t, 1, 1)
	for _, o := range []Options{{Context: 3}, {Context: 512}, {}} {
		if _, err := Measure(context.Background(), model, text(20), o); !errors.Is(err, ErrShort) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	file := measureBase(t, model, text(40), 16)
	for n := range len(file) {
		if _, err := OpenBase(bytes.NewReader(file[:n]), int64(n)); !errors.Is(err, ErrFormat) {
			t.Fatalf("%d of %d bytes: %v", n, len(file), err)
		}
	}
	for at, value := range map[int]uint32{8: 1 << 30, 12: 0, 16: math.MaxUint32, 20: 99} {
		bad := slices.Clone(file)
		binary.LittleEndian.PutUint32(bad[at:], value)
		if _, err := OpenBase(bytes.NewReader(bad), int64(len(bad))); !errors.Is(err, ErrFormat) {
			t.Errorf("%d at byte %d: %v", value, at, err)
		}
	}
	base, err := OpenBase(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	base.Vocab++
	if _, err := Compare(context.Background(), model, base, Options{BOS: bos}); !errors.Is(err, ErrBase) {
		t.Errorf("another vocabulary: %v", err)
	}
}

package sample

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var negInf = float32(math.Inf(-1))

func newSampler(t testing.TB, vocab int, p Params) *Sampler {
	t.Helper()
	s, err := New(vocab, p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func sampleOne(t testing.TB, s *Sampler, logits []float32, history []int32, position int) int32 {
	t.Helper()
	c, err := s.Sample(logits, history, position)
	if err != nil {
		t.Fatal(err)
	}
	return c.Token
}

// frequencies draws n tokens at positions 0 to n−1.
func frequencies(t testing.TB, p Params, logits []float32, n int) []float64 {
	s := newSampler(t, len(logits), p)
	f := make([]float64, len(logits))
	for i := range n {
		f[sampleOne(t, s, logits, nil, i)] += 1 / float64(n)
	}
	return f
}

func logs(probabilities ...float64) []float32 {
	l := make([]float32, len(probabilities))
	for i, p := range probabilities {
		l[i] = float32(math.Log(p))
	}
	return l
}

// reference applies temperature, top-k, top-p and min-p by sorting everything: the
// algorithm of the package's page without its shortcuts.
func reference(p Params, logits []float32) []float64 {
	order := make([]int, len(logits))
	for i := range order {
		order[i] = i
	}
	scaled := func(i int) float64 { return float64(logits[i]) / float64(p.Temperature) }
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case logits[a] > logits[b]:
			return -1
		case logits[a] < logits[b]:
			return 1
		}
		return 0
	})
	if p.TopK > 0 && p.TopK < len(order) {
		order = order[:p.TopK]
	}
	var total float64
	for _, i := range order {
		total += math.Exp(scaled(i))
	}
	out := make([]float64, len(logits))
	var sum, kept float64
	for n, i := range order {
		q := math.Exp(scaled(i)) / total
		if n > 0 && (p.TopP > 0 && p.TopP < 1 && sum >= float64(p.TopP) ||
			q < float64(p.MinP)*math.Exp(scaled(order[0]))/total) {
			break
		}
		sum += q
		out[i] = q
		kept += q
	}
	for i := range out {
		out[i] /= kept
	}
	return out
}

func TestDistribution(t *testing.T) {
	logits := logs(0.05, 0.3, 0.02, 0.25, 0.08, 0.3)
	tests := []struct {
		name string
		p    Params
	}{
		{"temperature 1", Params{Temperature: 1}},
		{"temperature 0.5", Params{Temperature: 0.5}},
		{"temperature 2", Params{Temperature: 2}},
		{"top-k 2 of equals and more", Params{Temperature: 1, TopK: 2}},
		{"top-k 1", Params{Temperature: 1, TopK: 1}},
		{"top-k above the vocabulary", Params{Temperature: 1, TopK: 100}},
		{"top-p 0.7", Params{Temperature: 1, TopP: 0.7}},
		{"top-p close to 0", Params{Temperature: 1, TopP: 1e-6}},
		{"top-p 1", Params{Temperature: 1, TopP: 1}},
		{"min-p 0.2", Params{Temperature: 1, MinP: 0.2}},
		{"min-p 1", Params{Temperature: 1, MinP: 1}},
		{"all", Params{Temperature: 1.3, TopK: 5, TopP: 0.9, MinP: 0.1}},
	}
	const n = 20000
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.p.Seed = 1
			got, want := frequencies(t, tt.p, logits, n), reference(tt.p, logits)
			for i := range got {
				sigma := math.Sqrt(want[i] * (1 - want[i]) / n)
				if math.Abs(got[i]-want[i]) > 4*sigma+1e-12 {
					t.Errorf("token %d: frequency %.4f, wanted %.4f ± %.4f", i, got[i], want[i], sigma)
				}
			}
		})
	}
}

// Whatever is drawn must be possible under the reference, for any logits.
func TestSupport(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 300 {
		logits := make([]float32, 1+rng.IntN(300))
		for i := range logits {
			logits[i] = float32(math.Round(rng.NormFloat64()*8) / 4) // many ties
		}
		p := Params{Temperature: 0.1 + 2*rng.Float32(), TopK: rng.IntN(20), TopP: rng.Float32(),
			MinP: rng.Float32() / 4, Seed: rng.Uint64()}
		want := reference(p, logits)
		s := newSampler(t, len(logits), p)
		for position := range 20 {
			if token := sampleOne(t, s, logits, nil, position); want[token] == 0 {
				t.Fatalf("round %d, %+v: token %d was drawn, which top-k, top-p or min-p drops", round, p, token)
			}
		}
	}
}

func TestGreedyTakesLowestOfEquals(t *testing.T) {
	s := newSampler(t, 5, Params{})
	if got := sampleOne(t, s, []float32{1, 3, 2, 3, 3}, nil, 0); got != 1 {
		t.Errorf("got token %d, wanted 1", got)
	}
}

func TestTopKTakesLowestOfEquals(t *testing.T) {
	f := frequencies(t, Params{Temperature: 1, TopK: 2}, []float32{0, 1, 1, 1, 1}, 1000)
	if f[1] == 0 || f[2] == 0 || f[3] != 0 || f[4] != 0 {
		t.Errorf("frequencies %v, wanted only tokens 1 and 2", f)
	}
}

func TestPenaltiesAndBias(t *testing.T) {
	logits := []float32{2, -1, 1.5, 0, 1}
	history := []int32{0, 0, 1, 5, -1} // 5 and −1 are outside of the vocabulary
	tests := []struct {
		name string
		p    Params
		want []float32
	}{
		{"none", Params{}, []float32{2, -1, 1.5, 0, 1}},
		{"repetition", Params{RepetitionPenalty: 2}, []float32{1, -2, 1.5, 0, 1}},
		{"presence", Params{PresencePenalty: 0.5}, []float32{1.5, -1.5, 1.5, 0, 1}},
		{"frequency", Params{FrequencyPenalty: 0.5}, []float32{1, -1.5, 1.5, 0, 1}},
		{"last 3", Params{RepetitionPenalty: 2, RepeatLastN: 3}, []float32{2, -2, 1.5, 0, 1}},
		{"last 4", Params{FrequencyPenalty: 1, RepeatLastN: 4}, []float32{1, -2, 1.5, 0, 1}},
		{"whole session", Params{FrequencyPenalty: 1, RepeatLastN: -1}, []float32{0, -2, 1.5, 0, 1}},
		{"bias after penalties", Params{RepetitionPenalty: 2, LogitBias: map[int32]float32{0: 3, 4: negInf}},
			[]float32{4, -2, 1.5, 0, negInf}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := slices.Clone(logits)
			s := newSampler(t, len(logits), tt.p)
			if got, want := sampleOne(t, s, logits, history, 0), int32(argmax(tt.want)); got != want {
				t.Errorf("token %d, wanted %d", got, want)
			}
			if diff := cmp.Diff(tt.want, s.logits); diff != "" {
				t.Errorf("logits (-want +got):\n%s", diff)
			}
			if !slices.Equal(before, logits) {
				t.Error("the caller's logits were changed")
			}
		})
	}
}

// 64 is repeat_last_n of llama.cpp and Ollama, which users expect where nothing is said.
func TestRepeatLastN(t *testing.T) {
	tests := []struct {
		lastN, ago int // token 1 was seen so many tokens ago
		seen       bool
	}{
		{0, 64, true}, {0, 65, false}, {64, 64, true}, {64, 65, false}, {65, 65, true}, {-1, 1000, true},
		{1, 1, true}, {1, 2, false},
	}
	for _, tt := range tests {
		history := make([]int32, tt.ago)
		history[0] = 1
		s := newSampler(t, 3, Params{PresencePenalty: 5, RepeatLastN: tt.lastN})
		want := int32(1)
		if tt.seen {
			want = 2
		}
		if got := sampleOne(t, s, []float32{0, 3, 2}, history, 0); got != want {
			t.Errorf("RepeatLastN %d, seen %d tokens ago: token %d, wanted %d", tt.lastN, tt.ago, got, want)
		}
	}
	if DefaultRepeatLastN != 64 {
		t.Errorf("DefaultRepeatLastN = %d, wanted 64", DefaultRepeatLastN)
	}
}

func TestOnlyOneTokenPossible(t *testing.T) {
	logits := []float32{negInf, negInf, -50, negInf}
	for _, p := range []Params{{}, {Temperature: 1}, Default(), {Temperature: 1e-40}, {Temperature: 1, MinP: 0.5},
		{Temperature: 1, TopK: 3, TopP: 1}} {
		s := newSampler(t, len(logits), p)
		for position := range 50 {
			if got := sampleOne(t, s, logits, nil, position); got != 2 {
				t.Fatalf("%+v: token %d, wanted the only one possible, 2", p, got)
			}
		}
	}
}

func TestLargestLogit(t *testing.T) {
	logits := []float32{0, 1, math.MaxFloat32}
	for _, p := range []Params{{}, Default()} {
		if got := sampleOne(t, newSampler(t, 3, p), logits, nil, 0); got != 2 {
			t.Errorf("%+v: token %d, wanted 2, whose logit is the largest float32", p, got)
		}
	}
}

// Where a sum is reached to the last bit: top-p has enough, and a random number takes
// the next token. Both logits are equal, so that the sums are 1 and 2.
func TestSumsThatAreReachedExactly(t *testing.T) {
	const seed, position = 11, 673543
	if u := Uniform(seed, position); u != 0.5 {
		t.Fatalf("Uniform = %v, wanted the 1/2 that this test is about", u)
	}
	tests := []struct {
		name string
		p    Params
		want int32
	}{
		{"top-p of a half", Params{TopP: 0.5}, 0},
		{"all", Params{}, 1},
		{"all that min-p leaves, which is all", Params{MinP: 1}, 1},
		{"all that top-p leaves, which is all", Params{TopP: 0.75}, 1},
	}
	for _, tt := range tests {
		tt.p.Temperature, tt.p.Seed = 1, seed
		if got := sampleOne(t, newSampler(t, 2, tt.p), []float32{3, 3}, nil, position); got != tt.want {
			t.Errorf("%s: token %d, wanted %d", tt.name, got, tt.want)
		}
	}
}

func TestUnusableLogits(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	tests := []struct {
		name   string
		p      Params
		logits []float32
	}{
		{"NaN", Params{}, []float32{0, nan, 1}},
		{"NaN, sampling", Default(), []float32{0, 0, nan}},
		{"+Inf", Params{}, []float32{0, inf, 1}},
		{"all -Inf", Default(), []float32{negInf, negInf, negInf}},
		{"all forbidden", Params{LogitBias: map[int32]float32{0: negInf, 1: negInf, 2: negInf}}, []float32{0, 1, 2}},
		{"too few", Params{}, []float32{0, 1}},
		{"too many", Params{}, []float32{0, 1, 2, 3}},
		{"overflow", Default(), []float32{0, 1, math.MaxFloat32}},
	}
	tests[len(tests)-1].p.LogitBias = map[int32]float32{2: math.MaxFloat32}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if c, err := newSampler(t, 3, tt.p).Sample(tt.logits, nil, 0); !errors.Is(err, ErrLogits) {
				t.Errorf("got %+v, %v; wanted ErrLogits", c, err)
			}
		})
	}
}

func TestSameSeedSameTokens(t *testing.T) {
	logits := make([]float32, 1000)
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range logits {
		logits[i] = float32(rng.NormFloat64())
	}
	stream := func(seed uint64) []int32 {
		p := Default()
		p.Seed = seed
		s := newSampler(t, len(logits), p)
		var out []int32
		for position := range 50 {
			out = append(out, sampleOne(t, s, logits, out, position))
		}
		return out
	}
	if diff := cmp.Diff(stream(7), stream(7)); diff != "" {
		t.Errorf("seed 7 twice:\n%s", diff)
	}
	if slices.Equal(stream(7), stream(8)) || slices.Equal(stream(7), stream(7|1<<32)) {
		t.Error("another seed gave the same 50 tokens")
	}
}

func TestLogProbs(t *testing.T) {
	logits := logs(0.1, 0.4, 0.2, 0.2, 0.1)
	p := Params{LogProbs: 3, LogitBias: map[int32]float32{4: 100}, Temperature: 2}
	got, err := newSampler(t, len(logits), p).Sample(logits, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got.Token != 4 || math.Abs(float64(got.LogProb)-math.Log(0.1)) > 1e-6 {
		t.Errorf("got %+v, wanted token 4 with the log-probability it has without the bias", got)
	}
	for i, want := range []struct {
		token int32
		p     float64
	}{{1, 0.4}, {2, 0.2}, {3, 0.2}} {
		if top := got.Top[i]; top.Token != want.token || math.Abs(float64(top.LogProb)-math.Log(want.p)) > 1e-6 {
			t.Errorf("Top[%d] = %+v, wanted token %d with ln %v", i, top, want.token, want.p)
		}
	}
	if len(got.Top) != 3 {
		t.Errorf("%d log-probabilities, wanted 3", len(got.Top))
	}
	if _, top := LogProbs(logits, 0, 99); len(top) != len(logits) {
		t.Errorf("%d log-probabilities of %d tokens", len(top), len(logits))
	}
}

func TestValidate(t *testing.T) {
	nan := float32(math.NaN())
	bad := map[string]Params{
		"temperature":            {Temperature: -1},
		"temperature NaN":        {Temperature: nan},
		"top-k":                  {TopK: -1},
		"top-p":                  {TopP: 1.5},
		"top-p NaN":              {TopP: nan},
		"min-p":                  {MinP: -0.1},
		"repetition penalty":     {RepetitionPenalty: -1},
		"presence penalty":       {PresencePenalty: 1000},
		"frequency penalty":      {FrequencyPenalty: nan},
		"log-probabilities":      {LogProbs: -1},
		"bias NaN":               {LogitBias: map[int32]float32{1: nan}},
		"bias +Inf":              {LogitBias: map[int32]float32{1: float32(math.Inf(1))}},
		"bias of no token":       {LogitBias: map[int32]float32{10: 1}},
		"bias of negative token": {LogitBias: map[int32]float32{-1: 1}},
	}
	for name, p := range bad {
		if _, err := New(10, p); !errors.Is(err, ErrParams) {
			t.Errorf("%s: got %v, wanted ErrParams", name, err)
		}
	}
	for _, p := range []Params{{}, Default(), {LogitBias: map[int32]float32{9: negInf}}} {
		if err := p.Validate(10); err != nil {
			t.Errorf("%+v: %v", p, err)
		}
	}
	if _, err := New(0, Params{}); !errors.Is(err, ErrParams) {
		t.Errorf("no vocabulary: got %v, wanted ErrParams", err)
	}
}

func TestValidateBounds(t *testing.T) {
	allowed := []Params{
		{}, {Temperature: 100}, {TopK: math.MaxInt32}, {TopP: 1}, {MinP: 1}, {RepetitionPenalty: 100},
		{PresencePenalty: 100}, {PresencePenalty: -100}, {FrequencyPenalty: 100}, {FrequencyPenalty: -100},
		{LogProbs: MaxLogProbs}, {LogitBias: map[int32]float32{9: negInf, 0: -math.MaxFloat32}},
	}
	for _, p := range allowed {
		if err := p.Validate(10); err != nil {
			t.Errorf("%+v: %v", p, err)
		}
	}
	bias := Params{LogitBias: map[int32]float32{10: 1}}
	if err := bias.Validate(0); err != nil {
		t.Errorf("of a vocabulary that is not known: %v", err)
	}
	if err := bias.Validate(10); err == nil || !strings.Contains(err.Error(), "wanted 0 to 9") {
		t.Errorf("error %v does not say which tokens there are", err)
	}
	for vocab, good := range map[int]bool{-1: false, 0: false, 1: true, math.MaxInt32: true, math.MaxInt32 + 1: false} {
		if _, err := New(vocab, Params{}); (err == nil) != good {
			t.Errorf("a vocabulary of %d tokens: %v", vocab, err)
		}
	}
}

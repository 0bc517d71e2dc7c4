package sample

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// logitsOf are logits whose softmax is p.
func logitsOf(p ...float64) []float32 {
	logits := make([]float32, len(p))
	for i := range p {
		logits[i] = float32(math.Log(p[i]))
	}
	return logits
}

// left is the distribution that a position's token is drawn from, by token.
func left(t *testing.T, p Params, logits []float32, history []int32, breakers Breakers, position int) []float64 {
	t.Helper()
	s, err := New(len(logits), p)
	if err != nil {
		t.Fatal(err)
	}
	s.SetBreakers(breakers)
	s.logits = append(s.logits, logits...)
	s.dry(history)
	top := slices.Max(s.logits)
	s.topNSigma(top)
	s.topK(top)
	s.softmax()
	sum := s.filter(position)
	out := make([]float64, len(logits))
	for _, c := range s.kept {
		out[c.token] = c.p / sum
	}
	return out
}

func near(a, b []float64) bool {
	for i := range a {
		if !(math.Abs(a[i]-b[i]) <= 2e-5) { // nor is NaN near
			return false
		}
	}
	return len(a) == len(b)
}

// What llama.cpp's own tests of its samplers expect, in the order of the tokens (tests/test-sampling.cpp),
// and some worked out by hand.
func TestStepsOfLlamaCpp(t *testing.T) {
	down := []float64{0.4, 0.3, 0.2, 0.1}
	even4, even5 := []float64{0.25, 0.25, 0.25, 0.25}, []float64{0.2, 0.2, 0.2, 0.2, 0.2}
	xtc := func(threshold float32) Params {
		return Params{Temperature: 1, XtcProbability: 1, XtcThreshold: threshold}
	}
	sigma := func(n float32) Params { return Params{Temperature: 1, TopNSigma: n} }
	typical := func(p float32) Params { return Params{Temperature: 1, TypicalP: p} }
	dry := func(multiplier, base float32, allowed, last int) Params {
		return Params{Temperature: 1, DryMultiplier: multiplier, DryBase: base, DryAllowedLength: allowed,
			DryPenaltyLastN: last}
	}
	for _, tc := range []struct {
		name     string
		params   Params
		p        []float64
		history  []int32
		breakers Breakers
		want     []float64
	}{
		{"XTC keeps the last above 0.09", xtc(0.09), down, nil, nil, []float64{0, 0, 0, 1}},
		{"XTC keeps the last above 0.19", xtc(0.19), down, nil, nil, []float64{0, 0, 2. / 3, 1. / 3}},
		{"XTC keeps the last above 0.29", xtc(0.29), down, nil, nil, []float64{0, 0.5, 1. / 3, 1. / 6}},
		{"XTC with one above its threshold", xtc(0.39), down, nil, nil, down},
		{"XTC above one half", xtc(0.51), down, nil, nil, down},
		{"typical, one", typical(0.5), []float64{0.97, 0.01, 0.01, 0.01}, nil, nil, []float64{1, 0, 0, 0}},
		{"typical, not the first", typical(0.5), []float64{0.4, 0.2, 0.2, 0.2}, nil, nil,
			[]float64{0, 1. / 3, 1. / 3, 1. / 3}},
		{"top-n-sigma of 1", sigma(1), down, nil, nil, []float64{0.571429, 0.428571, 0, 0}},
		{"top-n-sigma of 3", sigma(3), down, nil, nil, down},
		{"top-n-sigma and a temperature", Params{Temperature: 2, TopNSigma: 1}, []float64{0.4, 0.1, 0.3, 0.2}, nil, nil,
			[]float64{0.535898, 0, 0.464102, 0}}, // the square roots of 4 and 3
		{"DRY without a repetition", dry(1, 1.1, 2, 4), even4, []int32{0, 1}, nil, even4},
		{"DRY, a repetition of 2", dry(1, 1.1, 2, 5), even4, []int32{0, 1, 2, 0, 1}, nil,
			[]float64{0.296923, 0.296923, 0.109232, 0.296923}},
		{"DRY, a breaker in between", dry(1, 1.1, 2, 6), even4, []int32{0, 1, 3, 4, 0, 1}, Breakers{1: {{}}}, even4},
		{"DRY, a breaker before", dry(2, 1.1, 2, 6), even5, []int32{0, 1, 3, 4, 0, 1}, Breakers{4: {{}}},
			[]float64{0.241818, 0.241818, 0.241818, 0.032727, 0.241818}},
		{"DRY, what would come is a breaker", dry(2, 1.1, 2, 6), even5, []int32{0, 1, 3, 4, 0, 1}, Breakers{3: {{}}}, even5},
		{"DRY, a breaker of two tokens", dry(2, 1.1, 2, 7), even5, []int32{0, 1, 3, 2, 4, 0, 1}, Breakers{4: {{0}}}, even5},
		{"DRY, the longest of two", dry(1, 2, 2, -1), even4, []int32{0, 1, 2, 3, 0, 1, 3, 3, 0, 1, 2, 3, 0, 1}, nil,
			// 0 1 2 3 0 1 before 3, which is 2⁴; nothing else repeats more than "3 0 1" before 2: 2¹
			func() []float64 {
				a, b := math.Exp(-2), math.Exp(-16)
				sum := 2 + a + b
				return []float64{1 / sum, 1 / sum, a / sum, b / sum}
			}()},
		{"XTC, two that reach one half", xtc(0.5), []float64{0.5, 0.5}, nil, nil, []float64{0, 1}},
		{"XTC, all reach its threshold", xtc(0.25), even4, nil, nil, []float64{0, 0, 0, 1}},
		{"XTC, a random number like its probability", Params{Temperature: 1, XtcThreshold: 0.09,
			XtcProbability: Uniform(0, xtcPosition|1)}, down, nil, nil, []float64{0, 0, 0, 1}},
		{"typical, a sum that only reaches it", typical(0.5), even4, nil, nil, []float64{1. / 3, 1. / 3, 1. / 3, 0}},
		{"top-p, the last ones first", Params{Temperature: 1, TopP: 0.35}, []float64{0.1, 0.2, 0.3, 0.4}, nil, nil,
			[]float64{0, 0, 0, 1}},
		{"top-p, in any order", Params{Temperature: 1, TopP: 0.65}, []float64{0.1, 0.2, 0.3, 0.4}, nil, nil,
			[]float64{0, 0, 3. / 7, 4. / 7}},
		{"top-p, a sum that reaches it", Params{Temperature: 1, TopP: 0.5}, even4, nil, nil, []float64{0.5, 0.5, 0, 0}},
		{"min-p", Params{Temperature: 1, MinP: 0.6}, down, nil, nil, []float64{4. / 7, 3. / 7, 0, 0}},
		{"min-p of 1", Params{Temperature: 1, MinP: 1}, even4, nil, nil, even4},
		{"top-n-sigma beside a forbidden token", sigma(1), []float64{0.4, 0.3, 0.2, 0.1, 0}, nil, nil,
			[]float64{0.571429, 0.428571, 0, 0, 0}},
		{"top-n-sigma where all are alike", sigma(1), even4, nil, nil, even4},
		{"DRY, a base of 1", dry(2, 1, 2, 7), even5, []int32{4, 0, 1, 3, 4, 0, 1}, nil,
			[]float64{0.241818, 0.241818, 0.241818, 0.032727, 0.241818}},
		{"DRY, a breaker of two tokens that does not come", dry(2, 1.1, 2, 7), even5, []int32{0, 1, 3, 2, 4, 0, 1},
			Breakers{4: {{2}}}, []float64{0.241818, 0.241818, 0.241818, 0.032727, 0.241818}},
		{"DRY, a breaker that is everything", dry(1, 1.1, 1, -1), even4, []int32{0, 0, 0}, Breakers{0: {{0, 0}}}, even4},
		{"DRY looks no further back", dry(1, 1.1, 2, 4), even4, []int32{0, 1, 2, 0, 1}, nil, even4},
		{"typical-p before top-p", Params{Temperature: 1, TypicalP: 0.5, TopP: 0.6}, []float64{0.4, 0.2, 0.2, 0.2}, nil, nil,
			[]float64{0, 0.5, 0.5, 0}},
	} {
		if got := left(t, tc.params, logitsOf(tc.p...), tc.history, tc.breakers, 1); !near(got, tc.want) {
			t.Errorf("%s: %.6v, want %.6v", tc.name, got, tc.want)
		}
	}
}

// A temperature that varies, by its formula.
func TestDynamicTemperature(t *testing.T) {
	for _, tc := range []struct {
		p    []float64
		want float64 // temperature
	}{
		{[]float64{0.25, 0.25, 0.25, 0.25}, 1.3},
		{[]float64{1, 1e-12, 1e-12, 1e-12}, 0.3},
		{[]float64{0.5, 0.25, 0.25, 1e-30}, 0.3 + math.Pow(1.5/2, 2)}, // 1.5 of 2 bits
		{[]float64{0.75, 0.25}, 0.3 + math.Pow(2-0.75*math.Log2(3), 2)},
	} {
		p := Params{Temperature: 0.8, DynatempRange: 0.5, DynatempExponent: 2}
		want, sum := make([]float64, len(tc.p)), 0.0
		for i := range want {
			want[i] = math.Pow(tc.p[i], 1/tc.want)
			sum += want[i]
		}
		for i := range want {
			want[i] /= sum
		}
		if got := left(t, p, logitsOf(tc.p...), nil, nil, 1); !near(got, want) {
			t.Errorf("%v: %.6v, want %.6v", tc.p, got, want)
		}
	}
	// As low as 0: the best one alone, but where all are alike.
	p := Params{Temperature: 0.2, DynatempRange: 0.2}
	for _, p.DynatempExponent = range []float32{1, 10} { // the 10th power of so small an entropy is 0
		if got := left(t, p, logitsOf(1, 1e-40), nil, nil, 1); !near(got, []float64{1, 0}) {
			t.Errorf("to the power of %v: %v", p.DynatempExponent, got)
		}
	}
}

// Typical-p is held to its definition: by surprise, those nearest to the mean surprise.
func TestTypicalAgainstItsDefinition(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 500 {
		p, sum := make([]float64, 7), 0.0
		for i := range p {
			p[i] = math.Exp(3 * random.NormFloat64())
			sum += p[i]
		}
		h := 0.0
		for i := range p {
			p[i] /= sum
			h += p[i] * -math.Log(p[i])
		}
		order := []int{0, 1, 2, 3, 4, 5, 6}
		slices.SortFunc(order, func(a, b int) int {
			return cmp.Compare(math.Abs(-math.Log(p[a])-h), math.Abs(-math.Log(p[b])-h))
		})
		typical, want, reached := 0.1+0.8*random.Float64(), make([]float64, len(p)), 0.0
		for _, i := range order {
			if reached <= typical {
				want[i], reached = p[i], reached+p[i]
			}
		}
		for i := range want {
			want[i] /= reached
		}
		got := left(t, Params{Temperature: 1, TypicalP: float32(typical)}, logitsOf(p...), nil, nil, 1)
		if !near(got, want) {
			t.Fatalf("typical-p %v of %.6v leaves %.6v, want %.6v", typical, p, got, want)
		}
	}
}

// A sampler draws from what each filter leaves, whichever is set.
func TestFiltersAreTaken(t *testing.T) {
	const draws = 4000
	for name, p := range map[string]Params{
		"none":        {Temperature: 1},
		"typical-p":   {Temperature: 1, TypicalP: 0.5},
		"XTC":         {Temperature: 1, XtcProbability: 1, XtcThreshold: 0.15},
		"temperature": {Temperature: 0.5, DynatempRange: 0.4},
		"all":         {Temperature: 1, TypicalP: 0.9, XtcProbability: 1, XtcThreshold: 0.25, DynatempRange: 0.5},
	} {
		logits := logitsOf(0.4, 0.2, 0.2, 0.1, 0.1)
		s, err := New(len(logits), p)
		if err != nil {
			t.Fatal(err)
		}
		drawn := make([]float64, len(logits))
		for position := range draws {
			choice, err := s.Sample(logits, nil, position)
			if err != nil {
				t.Fatal(err)
			}
			drawn[choice.Token]++
		}
		want := left(t, p, logits, nil, nil, 0)
		for i := range drawn {
			if spread := math.Sqrt(draws * want[i] * (1 - want[i])); math.Abs(drawn[i]-draws*want[i]) > 5*spread {
				t.Errorf("%s: %v of %d draws, want shares of %.4v", name, drawn, draws, want)
				break
			}
		}
	}
}

// XTC's own random number decides how often it does anything.
func TestXTCIsDrawn(t *testing.T) {
	p, n := Params{Temperature: 1, XtcProbability: 0.3, Seed: 5}, 0
	for position := range 2000 {
		if left(t, p, logitsOf(0.6, 0.4), nil, nil, position)[0] == 0 {
			n++
		}
	}
	if n < 540 || n > 660 {
		t.Errorf("XTC acts on %d of 2000 tokens, 600 expected", n)
	}
}

// Of each place the length of what is the same is compared with counting it, and the penalty
// with the formula.
func TestDRYAgainstCounting(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const vocab = 5
	for range 2000 {
		history := make([]int32, random.IntN(60))
		for i := range history {
			history[i] = int32(random.IntN(vocab-1) - random.IntN(2)*random.IntN(2)) // −1 is a placeholder
			if random.IntN(8) == 0 {
				history[i] = vocab // as those of other vocabularies are
			}
		}
		p := Params{DryMultiplier: 0.8, DryAllowedLength: 1 + random.IntN(4), DryPenaltyLastN: random.IntN(50)}
		breakers := Breakers{}
		if random.IntN(2) == 0 {
			breakers[int32(random.IntN(vocab))] = [][]int32{{}}
		}
		s, err := New(vocab, p)
		if err != nil {
			t.Fatal(err)
		}
		s.SetBreakers(breakers)
		s.logits = make([]float32, vocab)
		s.dry(history)
		want := counted(history, p, breakers, vocab)
		for i, l := range s.logits {
			if math.Abs(float64(l)-want[i]) > 1e-4*math.Abs(want[i]) {
				t.Fatalf("history %v, %+v, breakers %v: token %d has %v, want %v", history, p, breakers, i, l, want[i])
			}
		}
	}
}

// counted is what DRY makes of logits of 0, one place after the other.
func counted(history []int32, p Params, breakers Breakers, vocab int) []float64 {
	logits := make([]float64, vocab)
	if n := p.DryPenaltyLastN; n > 0 && n < len(history) {
		history = history[len(history)-n:]
	}
	if len(history) <= p.DryAllowedLength {
		return logits
	}
	most := 0
	for most < len(history) && !breakers.breaks(history[len(history)-1-most]) {
		most++
	}
	for end := 1; end < len(history); end++ {
		next, n := history[end], 0
		for n < end && history[end-1-n] == history[len(history)-1-n] {
			n++
		}
		if n = min(n, most); n >= p.DryAllowedLength && next >= 0 && next < int32(vocab) && !breakers.breaks(next) {
			logits[next] = min(logits[next], -float64(p.DryMultiplier)*math.Pow(1.75, float64(n-p.DryAllowedLength)))
		}
	}
	return logits
}

// A repetition without an end stays finite.
func TestDRYStaysFinite(t *testing.T) {
	s, err := New(4, Params{DryMultiplier: 1, Temperature: 1})
	if err != nil {
		t.Fatal(err)
	}
	choice, err := s.Sample(make([]float32, 4), make([]int32, 5000), 5000)
	if err != nil || choice.Token == 0 {
		t.Errorf("%+v, %v", choice, err)
	}
	s.logits = make([]float32, 4)
	s.dry(make([]int32, 5000))
	if most := float32(-math.Pow(1.75, 158)); s.logits[0] != most { // 1.75¹⁵⁹ is no float32
		t.Errorf("a repetition of 4999 tokens costs %v, want %v", s.logits[0], most)
	}
}

// What a mask lacks is never chosen, in whichever word it stands; where nothing is left, that is an error.
func TestMask(t *testing.T) {
	const vocab = 70
	logits := make([]float32, vocab)
	logits[5], logits[40], logits[69] = 3, 2, 1
	for _, p := range []Params{{}, {Temperature: 1}} {
		s, err := New(vocab, p)
		if err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			mask []uint32
			want []int32
		}{
			{nil, []int32{5}},
			{[]uint32{math.MaxUint32, 0, 0}, []int32{5}},
			{[]uint32{0, 1<<8 | 1<<9, 1 << 5}, []int32{40, 41, 69}},
			{[]uint32{0, 0, 1 << 4}, []int32{68}},
		} {
			s.SetMask(tt.mask)
			for position := range 50 {
				choice, err := s.Sample(logits, nil, position)
				if err != nil {
					t.Fatal(err)
				}
				greedy := p.Greedy() && choice.Token != tt.want[0]
				if greedy || !p.Greedy() && tt.mask != nil && tt.mask[choice.Token/32]>>(choice.Token%32)&1 == 0 {
					t.Fatalf("%+v under %x chooses %d", p, tt.mask, choice.Token)
				}
			}
		}
		s.SetMask([]uint32{0, 0, 0})
		if choice, err := s.Sample(logits, nil, 0); !errors.Is(err, ErrLogits) {
			t.Errorf("%+v under an empty mask: %+v, %v", p, choice, err)
		}
	}
}

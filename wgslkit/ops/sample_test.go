package ops_test

import (
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
	"github.com/gemwire/gemwire/wgslkit/ops/opstest"
)

// TestSampleSizesOfGPUs runs the sizes that real GPUs get, wherever the test runs.
func TestSampleSizesOfGPUs(t *testing.T) {
	onlyInAll(t)
	dev := openKit(t, wgslkit.Options{}).Device()
	if dev.Info().Kind != wgslkit.CPU {
		t.Skip("TestOps runs them here")
	}
	kit := ops.NewTuned(dev, ops.TuningFor(wgslkit.DiscreteGPU, dev.Features()))
	runCases(t, kit, func(c opstest.Case) bool { return c.Op == "Sample" })
}

// sampling is a program of nothing but Sample on logits that stay.
type sampling struct {
	t         testing.TB
	sampler   *ops.Sampler
	state     *wgslkit.Buffer
	recording *ops.Recording
}

func newSampling(t testing.TB, kit *ops.Kit, o ops.SamplerOptions, logits []float32) *sampling {
	t.Helper()
	o.Vocab = len(logits)
	keep := func(b *wgslkit.Buffer, err error) *wgslkit.Buffer {
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.Release)
		return b
	}
	sampler, err := kit.NewSampler(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sampler.Release)
	s := &sampling{t: t, sampler: sampler, state: keep(kit.Words("state", wgslkit.Activations,
		make([]uint32, ops.StateWords)))}
	recorder := kit.Record("sample", 1, s.state)
	recorder.Sample(ops.Sample{
		Label: "sample", Sampler: sampler,
		Logits: keep(kit.Vector("logits", wgslkit.Activations, logits)),
		Tokens: keep(kit.Words("tokens", wgslkit.Activations, []uint32{0})),
	})
	if s.recording, err = recorder.Finish(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.recording.Release)
	return s
}

// start begins a generation after the history.
func (s *sampling) start(p ops.SampleParams, history []int32) {
	s.t.Helper()
	raw := make([]byte, 4*ops.StateWords)
	binary.LittleEndian.PutUint32(raw[4*ops.StateWidth:], uint32(len(history)))
	for _, err := range []error{s.sampler.Configure(p), s.sampler.SetHistory(history, 0), s.state.Write(0, raw)} {
		if err != nil {
			s.t.Fatal(err)
		}
	}
}

// submit makes n steps without waiting for any.
func (s *sampling) submit(n int) {
	s.t.Helper()
	for range n {
		if err := s.recording.Submit(1); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *sampling) read(position int) (ops.SampleResult, error) {
	s.t.Helper()
	read, err := s.sampler.StartRead(position)
	if err != nil {
		s.t.Fatal(err)
	}
	return read.Result()
}

// tokens makes n steps and reads what they chose from position on.
func (s *sampling) tokens(position, n int) (out []int32) {
	s.t.Helper()
	s.submit(n)
	for i := range n {
		result, err := s.read(position + i)
		if err != nil {
			s.t.Fatal(err)
		}
		out = append(out, result.Token)
	}
	return out
}

func randomLogits(n int, spread float64) []float32 {
	random := rand.New(rand.NewPCG(uint64(n), 7))
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(spread * random.NormFloat64())
	}
	return out
}

// What is drawn has the frequencies of the distribution: χ² over 1200 draws.
func TestSampleFrequencies(t *testing.T) {
	kit := openKit(t, wgslkit.Options{})
	probabilities := []float64{0.05, 0.3, 0.02, 0.25, 0.08, 0.3}
	var logits []float32
	for _, p := range probabilities {
		logits = append(logits, float32(math.Log(p)))
	}
	const n = 1200
	s := newSampling(t, kit, ops.SamplerOptions{Results: n}, logits)
	for _, tt := range []struct {
		name string
		p    ops.SampleParams
		want []float64 // not normalised
	}{
		{"temperature 1", ops.SampleParams{Temperature: 1}, probabilities},
		{"temperature 0.5", ops.SampleParams{Temperature: 0.5}, []float64{0.0025, 0.09, 0.0004, 0.0625, 0.0064, 0.09}},
		{"top-k 2", ops.SampleParams{Temperature: 1, TopK: 2}, []float64{0, 1, 0, 0, 0, 1}},
		{"top-p 0.7", ops.SampleParams{Temperature: 1, TopP: 0.7}, []float64{0, 0.3, 0, 0.25, 0, 0.3}},
		{"min-p 0.2", ops.SampleParams{Temperature: 1, MinP: 0.2}, []float64{0, 0.3, 0, 0.25, 0.08, 0.3}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.p.Seed = 11
			s.start(tt.p, []int32{0})
			count := make([]float64, len(logits))
			for _, token := range s.tokens(1, n) {
				count[token]++
			}
			var sum, chi2 float64
			freedom := -1.0
			for _, p := range tt.want {
				sum += p
			}
			for i, p := range tt.want {
				want := n * p / sum
				if want == 0 {
					if count[i] > 0 {
						t.Errorf("token %d was drawn, which must not stay", i)
					}
					continue
				}
				freedom++
				chi2 += (count[i] - want) * (count[i] - want) / want
			}
			if chi2 > freedom+5*math.Sqrt(2*freedom) {
				t.Errorf("χ² = %.1f with %v degrees of freedom: %v", chi2, freedom, count)
			}
		})
	}
}

// The same seed gives the same tokens: again, in steps or all at once, and
// however the work is cut up.
func TestSampleSameSeed(t *testing.T) {
	kit := openKit(t, wgslkit.Options{})
	dev := kit.Device()
	history := []int32{5, 6, 7, 5}
	logits := randomLogits(5000, 2)
	p := ops.SampleParams{Temperature: 1.5, TopP: 0.98, PresencePenalty: 1, RepeatLastN: 8, Seed: 42}
	var want []int32
	for _, kind := range []wgslkit.Kind{wgslkit.CPU, wgslkit.DiscreteGPU} {
		s := newSampling(t, ops.NewTuned(dev, ops.TuningFor(kind, dev.Features())), ops.SamplerOptions{}, logits)
		s.start(p, history)
		got := append(s.tokens(4, 10), s.tokens(14, 1)...)
		if want == nil {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", kind, diff)
		}
		s.start(p, history)
		if diff := cmp.Diff(want, s.tokens(4, 11)); diff != "" {
			t.Errorf("%s, once more (-want +got):\n%s", kind, diff)
		}
		other := p
		other.Seed = 42 | 1<<32
		s.start(other, history)
		if cmp.Equal(want, s.tokens(4, 11)) {
			t.Errorf("%s: another seed gave the same 11 tokens", kind)
		}
	}
}

// Going back to a position and on from there chooses what was chosen first,
// penalties included.
func TestSampleRewind(t *testing.T) {
	s := newSampling(t, openKit(t, wgslkit.Options{}), ops.SamplerOptions{History: 64}, randomLogits(100, 1))
	p := ops.SampleParams{Temperature: 1, FrequencyPenalty: 1, RepeatLastN: 5, Seed: 3}
	s.start(p, []int32{1, 2, 3})
	want := s.tokens(3, 20)
	const back = 9
	if err := s.sampler.SetHistory(nil, back); err != nil {
		t.Fatal(err)
	}
	raw := binary.LittleEndian.AppendUint32(nil, back-1)
	if err := s.state.Write(4*ops.StatePosition, raw); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want[back-3:], s.tokens(back, 20-(back-3))); diff != "" {
		t.Errorf("after going back (-want +got):\n%s", diff)
	}
}

func TestSampleUnusableLogits(t *testing.T) {
	kit := openKit(t, wgslkit.Options{})
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	forbidden := map[int32]float32{0: -inf, 1: -inf, 2: -inf}
	for _, tt := range []struct {
		name   string
		p      ops.SampleParams
		logits []float32
	}{
		{"NaN", ops.SampleParams{}, []float32{0, nan, 1}},
		{"NaN, sampling", ops.SampleParams{Temperature: 1, LogProbs: 2}, []float32{0, 0, nan}},
		{"+Inf", ops.SampleParams{Temperature: 1}, []float32{0, inf, 1}},
		{"all -Inf", ops.SampleParams{Temperature: 1, TopP: 0.5, LogProbs: 1}, []float32{-inf, -inf, -inf}},
		{"all forbidden", ops.SampleParams{LogitBias: forbidden}, []float32{0, 1, 2}},
		{"overflow", ops.SampleParams{Temperature: 1, LogitBias: map[int32]float32{2: math.MaxFloat32}},
			[]float32{0, 1, math.MaxFloat32}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSampling(t, kit, ops.SamplerOptions{MaxLogProbs: 3}, tt.logits)
			s.start(tt.p, []int32{0})
			s.submit(1)
			if result, err := s.read(1); !errors.Is(err, ops.ErrLogits) {
				t.Errorf("got %+v, %v; wanted ErrLogits", result, err)
			}
		})
	}
}

func TestSampleReadOfNothing(t *testing.T) {
	s := newSampling(t, openKit(t, wgslkit.Options{}), ops.SamplerOptions{Results: 4}, randomLogits(10, 1))
	s.start(ops.SampleParams{}, []int32{0})
	s.submit(5)
	for _, position := range []int{1, 6} { // overwritten; not chosen yet
		if result, err := s.read(position); !errors.Is(err, wgslkit.ErrValidation) {
			t.Errorf("position %d: got %+v, %v; wanted ErrValidation", position, result, err)
		}
	}
}

func TestSamplerRefuses(t *testing.T) {
	kit := openKit(t, wgslkit.Options{})
	for name, o := range map[string]ops.SamplerOptions{
		"no vocabulary":         {},
		"too large":             {Vocab: 1 << 24},
		"negative history":      {Vocab: 10, History: -1},
		"log-probabilities":     {Vocab: 10, MaxLogProbs: ops.MaxLogProbs + 1},
		"negative results kept": {Vocab: 10, Results: -1},
	} {
		if s, err := kit.NewSampler(o); err == nil {
			s.Release()
			t.Errorf("%s: no error", name)
		}
	}
	s, err := kit.NewSampler(ops.SamplerOptions{Vocab: 10, MaxLogProbs: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Release()
	nan := float32(math.NaN())
	for name, p := range map[string]ops.SampleParams{
		"temperature":            {Temperature: -1},
		"temperature NaN":        {Temperature: nan},
		"top-k":                  {TopK: -1},
		"top-p":                  {TopP: 1.5},
		"min-p":                  {MinP: nan},
		"repetition penalty":     {RepetitionPenalty: -1},
		"presence penalty":       {PresencePenalty: float32(math.Inf(1))},
		"frequency penalty":      {FrequencyPenalty: nan},
		"log-probabilities":      {LogProbs: 3},
		"bias NaN":               {LogitBias: map[int32]float32{1: nan}},
		"bias +Inf":              {LogitBias: map[int32]float32{1: float32(math.Inf(1))}},
		"bias of no token":       {LogitBias: map[int32]float32{10: 1}},
		"bias of negative token": {LogitBias: map[int32]float32{-1: 1}},
	} {
		if err := s.Configure(p); !errors.Is(err, wgslkit.ErrValidation) {
			t.Errorf("%s: got %v, wanted ErrValidation", name, err)
		}
	}
	if err := s.SetHistory(nil, -1); !errors.Is(err, wgslkit.ErrValidation) {
		t.Errorf("history before the start: got %v, wanted ErrValidation", err)
	}
}

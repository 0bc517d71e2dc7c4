package opstest

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// sampleCase is some steps of sampling from the same logits.
type sampleCase struct {
	name    string
	vocab   int
	logits  func(r *rig, n int) []float64
	params  ops.SampleParams
	history int // tokens before the first step
	ring    int // tokens that the sampler remembers, 0 for more than there are
	steps   int
	edge    bool // a seed whose first random number is as close to 1 as can be
	masked  bool // every third token may not be chosen, the best of all among them
}

// The shapes of logits.
var (
	normalLogits = func(r *rig, n int) []float64 { return scaled(r.normal(n), 3) }
	flatLogits   = func(r *rig, n int) []float64 { return make([]float64, n) }
	// tiedLogits has few values, 0 of both signs and −Inf among them.
	tiedLogits = func(r *rig, n int) []float64 {
		l := r.normal(n)
		for i := range l {
			l[i] = math.Round(l[i])
			if i%7 == 3 {
				l[i] = math.Inf(-1)
			}
		}
		return l
	}
	// peakedLogits has one probable token and a tail that is almost nothing.
	peakedLogits = func(r *rig, n int) []float64 {
		l := scaled(r.normal(n), 2)
		l[n/2] = 30
		return l
	}
	// closeLogits differ in their last bits.
	closeLogits = func(r *rig, n int) []float64 {
		l := make([]float64, n)
		for i := range l {
			l[i] = 20 + float64(r.random.IntN(64))*0x1p-19
		}
		return l
	}
)

func sampleParamTable(vocab int) map[string]ops.SampleParams {
	return map[string]ops.SampleParams{
		"greedy":           {},
		"temperature 1":    {Temperature: 1},
		"temperature 0.1":  {Temperature: 0.1},
		"temperature 5":    {Temperature: 5},
		"temperature tiny": {Temperature: 1e-40},
		"top-k 1":          {Temperature: 1, TopK: 1},
		"top-k 64":         {Temperature: 1, TopK: 64},
		"top-k 1000":       {Temperature: 1.5, TopK: 1000},
		"top-k vocab":      {Temperature: 1, TopK: vocab},
		"top-k above":      {Temperature: 1, TopK: vocab + 7},
		"top-p 0.5":        {Temperature: 1, TopP: 0.5},
		"top-p 0.99":       {Temperature: 2, TopP: 0.99},
		"top-p tiny":       {Temperature: 1, TopP: 1e-6},
		"top-p 1":          {Temperature: 1, TopP: 1},
		"min-p 0.05":       {Temperature: 1, MinP: 0.05},
		"min-p 1":          {Temperature: 1, MinP: 1},
		"gemma":            {Temperature: 1, TopK: 64, TopP: 0.95},
		"all": {Temperature: 1.3, TopK: 100, TopP: 0.9, MinP: 0.01, RepetitionPenalty: 1.2,
			PresencePenalty: 0.3, FrequencyPenalty: 0.1, LogProbs: 5},
		"greedy, penalties": {RepetitionPenalty: 1.5, PresencePenalty: 0.5, FrequencyPenalty: 0.25},
		"greedy, last 3":    {PresencePenalty: 50, RepeatLastN: 3},
		"greedy, whole":     {FrequencyPenalty: 2, RepeatLastN: -1},
		"penalties below 1": {Temperature: 1, RepetitionPenalty: 0.8, PresencePenalty: -0.5, RepeatLastN: 7},
		"greedy, logprobs":  {LogProbs: 20},
		"logprobs":          {Temperature: 1, TopK: 10, LogProbs: ops.MaxLogProbs},
		"bias": {Temperature: 1, TopK: 20,
			LogitBias: map[int32]float32{0: 4, int32(vocab - 1): 6, int32(vocab / 2): float32(math.Inf(-1))}},
		"greedy, bias": {LogitBias: map[int32]float32{int32(vocab / 3): 100}, LogProbs: 3},
		"bias and penalties": {Temperature: 0.7, FrequencyPenalty: 3,
			LogitBias: map[int32]float32{int32(vocab / 3): 20}, RepeatLastN: 4, LogProbs: 1},
	}
}

func sampleCases(*ops.Kit) []Case {
	var list []sampleCase
	add := func(c sampleCase) { list = append(list, c) }
	for _, vocab := range []int{31, 257, 2048, 50000} {
		table := sampleParamTable(vocab)
		for _, name := range slices.Sorted(maps.Keys(table)) {
			p := table[name]
			add(sampleCase{name: name, vocab: vocab, logits: normalLogits, params: p, history: 9, steps: 6})
			add(sampleCase{name: name + ", tied", vocab: vocab, logits: tiedLogits, params: p, history: 70, steps: 3})
			if p.Temperature > 0 {
				add(sampleCase{name: name + ", edge", vocab: vocab, logits: normalLogits, params: p, history: 3,
					steps: 1, edge: true})
			}
		}
		gemma := ops.SampleParams{Temperature: 1, TopK: 64, TopP: 0.95, LogProbs: 4}
		nucleus := ops.SampleParams{Temperature: 0.9, TopP: 0.8}
		for _, shape := range []struct {
			name   string
			logits func(*rig, int) []float64
		}{{"flat", flatLogits}, {"peaked", peakedLogits}, {"close", closeLogits}} {
			name, logits := shape.name, shape.logits
			add(sampleCase{name: "gemma, " + name, vocab: vocab, logits: logits, params: gemma, steps: 3})
			add(sampleCase{name: "gemma, edge, " + name, vocab: vocab, logits: logits, params: gemma, steps: 1,
				edge: true})
			add(sampleCase{name: "top-p, " + name, vocab: vocab, logits: logits, params: nucleus, steps: 3})
			add(sampleCase{name: "top-p, edge, " + name, vocab: vocab, logits: logits, params: nucleus, steps: 1,
				edge: true})
			add(sampleCase{name: "greedy, " + name, vocab: vocab, logits: logits, params: ops.SampleParams{LogProbs: 9},
				steps: 2})
		}
	}
	for _, vocab := range []int{31, 2048, 50000} {
		table := sampleParamTable(vocab)
		for _, name := range []string{"all", "bias and penalties", "gemma", "greedy", "greedy, logprobs"} {
			add(sampleCase{name: name + ", masked", vocab: vocab, logits: normalLogits, params: table[name], history: 9,
				steps: 4, masked: true})
		}
	}
	wrapped := ops.SampleParams{Temperature: 1, TopK: 5, FrequencyPenalty: 2, RepeatLastN: -1}
	add(sampleCase{name: "history ring wraps", vocab: 31, logits: normalLogits, params: wrapped, history: 45, ring: 16,
		steps: 40})
	add(sampleCase{name: "gemma", vocab: 262144, logits: normalLogits,
		params: ops.SampleParams{Temperature: 1, TopK: 64, TopP: 0.95, LogProbs: 8}, steps: 3})
	add(sampleCase{name: "top-p, flat", vocab: 262144, logits: flatLogits,
		params: ops.SampleParams{Temperature: 1, TopP: 0.9}, steps: 2, edge: true})
	cases := make([]Case, len(list))
	for i, c := range list {
		cases[i] = Case{Op: "Sample", Name: fmt.Sprintf("%d/%s", c.vocab, c.name), Tolerance: 3e-6, Run: c.run}
	}
	return cases
}

func (c sampleCase) run(_ context.Context, kit *ops.Kit) (worst float64, err error) {
	r := newRig(kit, uint64(c.vocab)+1)
	defer r.close()
	steps, err := newSampleSteps(r, c)
	if err != nil {
		return 0, err
	}
	for range c.steps {
		miss, err := steps.next()
		if err != nil {
			return 0, err
		}
		worst = max(worst, miss)
	}
	return worst, nil
}

// sampleSteps is a program of nothing but Sample, and its twin.
type sampleSteps struct {
	rig       *rig
	sampler   *ops.Sampler
	recording *ops.Recording
	tokens    *wgslkit.Buffer
	twin      sampleTwin
	ring      int
	history   []int32 // of which the twin sees what the ring holds
}

func newSampleSteps(r *rig, c sampleCase) (*sampleSteps, error) {
	logits := c.logits(r, c.vocab)
	s := &sampleSteps{rig: r, ring: c.ring, twin: sampleTwin{params: c.params}}
	for _, l := range logits {
		s.twin.logits = append(s.twin.logits, float32(l))
	}
	for range c.history {
		s.history = append(s.history, int32(r.random.IntN(c.vocab+2))-1)
	}
	s.twin.params.Seed = c.seed()
	if s.ring == 0 {
		s.ring = c.history + c.steps + 1
	}
	if c.params.RepeatLastN < 0 {
		s.twin.params.RepeatLastN = s.ring
	}
	buffer := r.upload(logits)
	s.tokens = r.words(0)
	var err error
	s.sampler, err = r.kit.NewSampler(ops.SamplerOptions{Vocab: c.vocab, History: s.ring,
		MaxLogProbs: c.params.LogProbs, Results: 4})
	if err != nil {
		return nil, err
	}
	r.release = append(r.release, s.sampler.Release)
	configured := c.params
	configured.Seed = s.twin.params.Seed
	r.keep(s.sampler.SetHistory(s.history, 0))
	r.keep(s.sampler.Configure(configured))
	r.keep(s.writeState())
	recorder := r.kit.Record("sample", 1, r.state)
	if c.masked {
		r.keep(s.sampler.AddMask())
		s.twin.mask = maskFor(s.twin.logits)
		r.keep(s.sampler.SetMask(s.twin.mask))
	}
	recorder.Sample(ops.Sample{Label: "sample", Logits: buffer, Tokens: s.tokens, Sampler: s.sampler, Masked: c.masked})
	if s.recording, err = recorder.Finish(); err != nil {
		return nil, err
	}
	r.release = append(r.release, s.recording.Release)
	return s, r.err
}

// maskFor lets two of three tokens through, and not the one of the largest logit.
func maskFor(logits []float32) []uint32 {
	mask, best := make([]uint32, (len(logits)+31)/32), 0
	for t, l := range logits {
		if l > logits[best] {
			best = t
		}
		if t%3 != 1 {
			mask[t/32] |= 1 << (t % 32)
		}
	}
	mask[best/32] &^= 1 << (best % 32)
	return mask
}

// writeState stands as after a prompt of the whole history in one replay.
func (s *sampleSteps) writeState() error {
	raw := make([]byte, 4*ops.StateWords)
	binary.LittleEndian.PutUint32(raw[4*ops.StateWidth:], uint32(len(s.history)))
	return s.rig.state.Write(0, raw)
}

// seed is any, or for an edge case one of which the first random number is
// close to 1, so that the last token of what is kept is drawn.
func (c sampleCase) seed() uint64 {
	const tries = 200000
	best := uint64(c.vocab)<<32 | 0x5eed
	if !c.edge {
		return best
	}
	for seed := range uint64(tries) {
		if uniform(seed, uint32(c.history)) > uniform(best, uint32(c.history)) {
			best = seed
		}
	}
	return best
}

// next makes one step and says by how much it misses the twin's.
func (s *sampleSteps) next() (float64, error) {
	if err := s.recording.Submit(1); err != nil {
		return 0, err
	}
	read, err := s.sampler.StartRead(len(s.history))
	if err != nil {
		return 0, err
	}
	result, err := read.Result()
	if err != nil {
		return 0, err
	}
	state, token := s.rig.readWords(s.rig.state, ops.StateWords), s.rig.readWords(s.tokens, 1)
	if s.rig.err != nil {
		return 0, s.rig.err
	}
	if int(state[ops.StatePosition]) != len(s.history) || state[ops.StateWidth] != 1 ||
		int32(token[0]) != result.Token {
		return 0, fmt.Errorf("state %v and tokens %v after token %d was chosen for position %d", state, token,
			result.Token, len(s.history))
	}
	twin := s.twin
	twin.history = s.history
	miss := max(twin.miss(result.Token), twin.missLogProbs(result))
	s.history = append(s.history, result.Token)
	return miss, nil
}

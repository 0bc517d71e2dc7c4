package sampler

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops/record"
)

// maxSampledVocab is where the upper word of a sum of masses could wrap.
const maxSampledVocab = 1<<24 - 1

// SamplerOptions are the sizes of a Sampler, which stay.
type SamplerOptions struct {
	Vocab int
	// History is how many of the session's last tokens are remembered for
	// penalties: the context's length for all of them. 0 is DefaultRepeatLastN.
	History int
	// MaxLogProbs bounds SampleParams.LogProbs.
	MaxLogProbs int
	// Results is how many choices are kept for StartRead before the oldest is
	// overwritten; 0 is 64.
	Results int
	// Shares, where given, is a sampler of the same vocabulary and sizes whose working memory
	// this one uses too: their choices are never under way at once, and it is released last.
	Shares *Sampler
}

// Sampler chooses tokens on the GPU. It holds one session's history, the
// parameters of the generation under way and its results. It is for one
// goroutine at a time.
type Sampler struct {
	kit      *record.Kit
	options  SamplerOptions
	shape    samplerShape
	layout   samplerLayout
	fixed    samplerSettings // the part of the settings that stays
	logProbs int             // as configured
	window   int
	biased   bool

	// The layout of these is in sample_settings.wgsl.
	settings, bias, adjusted, probabilities, scratch, list, memory *wgslkit.Buffer

	recount *record.Recording // counts the window's tokens anew

	mask *wgslkit.Buffer // nil until AddMask; a bit for each token
	raw  []byte          // of SetMask
}

// samplerLayout is where things stand, in words; see sample_settings.wgsl.
type samplerLayout struct {
	history, results, resultWords, memory int
	rawList, list, tokens                 int
	scratch                               int
}

// The constants of sample_settings.wgsl that the host needs.
const (
	samplerTotals      = 16
	samplerListEntries = 16
	samplerCounts      = 16
	samplerResultTop   = 8
)

func (o SamplerOptions) layout(shape samplerShape) (l samplerLayout) {
	l.history = samplerCounts + o.Vocab
	l.results = l.history + o.History
	l.resultWords = samplerResultTop + 2*o.MaxLogProbs
	l.memory = l.results + o.Results*l.resultWords
	l.rawList = samplerListEntries + 3*o.Vocab
	l.list, l.tokens = l.rawList, o.Vocab
	if o.MaxLogProbs > 0 {
		l.list += 3 * o.Vocab
	}
	l.scratch = samplerTotals + 4*shape.bins + 4*shape.groups + 3*shape.bins
	if shape.small {
		l.scratch = smallThreads*3*shape.bins + 2*o.Vocab + 3*(o.Vocab+smallThreads)
		l.list, l.tokens = 1, 1
	}
	return l
}

func (o SamplerOptions) validate() error {
	switch {
	case o.Vocab < 1 || o.Vocab > maxSampledVocab:
		return fmt.Errorf("%w: sampling from a vocabulary of %d tokens, wanted 1 to %d", wgslkit.ErrLimit, o.Vocab,
			maxSampledVocab)
	case o.History < 0 || o.History > math.MaxInt32:
		return fmt.Errorf("%w: a sampler's history of %d tokens", wgslkit.ErrValidation, o.History)
	case o.MaxLogProbs < 0 || o.MaxLogProbs > MaxLogProbs:
		return fmt.Errorf("%w: %d log-probabilities, wanted 0 to %d", wgslkit.ErrValidation, o.MaxLogProbs, MaxLogProbs)
	case o.Results < 0 || o.Results > math.MaxInt16:
		return fmt.Errorf("%w: %d results kept by a sampler", wgslkit.ErrValidation, o.Results)
	}
	return nil
}

// NewSampler makes a sampler with no history, configured greedy.
func NewSampler(k *record.Kit, o SamplerOptions) (*Sampler, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	o.History = cmp.Or(o.History, DefaultRepeatLastN)
	o.Results = cmp.Or(o.Results, 64)
	s := &Sampler{kit: k, options: o}
	s.shape = shape(k.Tuning().Sampling, o.Vocab)
	s.layout = o.layout(s.shape)
	s.fixed = s.fixedSettings()
	if err := s.build(); err != nil {
		s.Release()
		return nil, err
	}
	return s, nil
}

// smallThreads is the workgroup size of sample_small.
const smallThreads = 4

// countThreads is the workgroup size of sample_count.
const countThreads = 256

func (s *Sampler) variant(threads int) wgslkit.Variant {
	return wgslkit.Variant{"THREADS": threads, "BINS": s.shape.bins, "STORED_BINS": s.kit.Tuning().Sampling.StoredBins}
}

func (s *Sampler) build() (err error) {
	for _, b := range []struct {
		buffer **wgslkit.Buffer
		label  string
		words  int
	}{
		{&s.settings, "sampling settings", binary.Size(samplerSettings{}) / 4},
		{&s.bias, "logit bias", s.options.Vocab},
		{&s.adjusted, "adjusted logits", s.layout.tokens},
		{&s.probabilities, "probabilities", s.layout.tokens},
		{&s.scratch, "sampling scratch", s.layout.scratch},
		{&s.list, "sampling candidates", s.layout.list},
		{&s.memory, "history and results", s.layout.memory},
	} {
		if s.shared(b.buffer) {
			continue
		}
		if *b.buffer, err = s.kit.Device().NewBuffer(b.label, wgslkit.Activations, int64(4*b.words)); err != nil {
			return err
		}
	}
	if err := s.prepare(); err != nil {
		return err
	}
	r := s.kit.Record("count history", 1, nil)
	r.Dispatch(Files, "sample_count.wgsl", s.variant(countThreads), wgslkit.Call{
		Label: "count history", Bind: []wgslkit.Binding{s.settings.All(), s.memory.All()},
	})
	if s.recount, err = r.Finish(); err != nil {
		return err
	}
	return s.Configure(SampleParams{})
}

// shared takes another sampler's working memory for one of this one's, where it is to.
func (s *Sampler) shared(into **wgslkit.Buffer) bool {
	o := s.options.Shares
	if o == nil {
		return false
	}
	switch into {
	case &s.adjusted:
		s.adjusted = o.adjusted
	case &s.probabilities:
		s.probabilities = o.probabilities
	case &s.scratch:
		s.scratch = o.scratch
	case &s.list:
		s.list = o.list
	default:
		return false
	}
	return true
}

// buffers are the sampler's own.
func (s *Sampler) buffers() []*wgslkit.Buffer {
	buffers := []*wgslkit.Buffer{s.settings, s.bias, s.memory}
	if s.options.Shares == nil {
		buffers = append(buffers, s.adjusted, s.probabilities, s.scratch, s.list)
	}
	if s.mask != nil {
		buffers = append(buffers, s.mask)
	}
	return buffers
}

// AddMask makes room for a mask, where there is none yet. Sample.Masked wants it.
func (s *Sampler) AddMask() (err error) {
	if s.mask != nil {
		return nil
	}
	bytes := 4 * ((s.options.Vocab + 31) / 32)
	s.raw = make([]byte, bytes)
	s.mask, err = s.kit.Device().NewBuffer("token mask", wgslkit.Activations, int64(bytes))
	return err
}

// SetMask says which tokens the masked choices that are submitted after it may be of:
// bit t%32 of word t/32 for token t, vocab/32 words, rounded up. Nothing is allocated.
func (s *Sampler) SetMask(words []uint32) error {
	if s.mask == nil || 4*len(words) != len(s.raw) {
		return fmt.Errorf("%w: a mask of %d words for a vocabulary of %d tokens", wgslkit.ErrValidation, len(words),
			s.options.Vocab)
	}
	for i, w := range words {
		binary.LittleEndian.PutUint32(s.raw[4*i:], w)
	}
	return s.mask.Write(0, s.raw)
}

// Bytes is the GPU memory that the sampler takes.
func (s *Sampler) Bytes() (total int64) {
	for _, b := range s.buffers() {
		total += b.Size()
	}
	return total
}

// Release frees the sampler's buffers. Programs that it was recorded into must
// not be replayed any more. Releasing twice, or a nil sampler, does nothing.
func (s *Sampler) Release() {
	if s == nil {
		return
	}
	s.recount.Release()
	for _, b := range s.buffers() {
		b.Release()
	}
}

// SetHistory writes the session's tokens at positions first, first+1, … and
// drops what came after them: the prompt, or, with no tokens, a way back to an
// earlier position. Tokens outside of the vocabulary count for nothing.
func (s *Sampler) SetHistory(tokens []int32, first int) error {
	if first < 0 || first > math.MaxInt32-len(tokens) {
		return fmt.Errorf("%w: history of %d tokens from position %d", wgslkit.ErrValidation, len(tokens), first)
	}
	end := first + len(tokens)
	if drop := len(tokens) - s.options.History; drop > 0 {
		tokens, first = tokens[drop:], first+drop
	}
	for len(tokens) > 0 {
		slot := first % s.options.History
		n := min(len(tokens), s.options.History-slot)
		if err := s.memory.Write(int64(4*(s.layout.history+slot)), wordBytes(tokens[:n])); err != nil {
			return err
		}
		tokens, first = tokens[n:], first+n
	}
	if err := s.memory.Write(0, wordBytes([]int32{int32(end)})); err != nil {
		return err
	}
	return s.countAgain()
}

// countAgain is due whenever the window or what it shows was changed.
func (s *Sampler) countAgain() error {
	if s.window == 0 {
		return nil
	}
	return s.recount.Submit(1)
}

func wordBytes[W int32 | float32](words []W) []byte {
	raw, _ := binary.Append(make([]byte, 0, 4*len(words)), binary.LittleEndian, words)
	return raw
}

package sample

import (
	"errors"
	"fmt"
	"math"
)

// ErrLogits says that the logits are no distribution to choose from.
var ErrLogits = errors.New("unusable logits")

// Choice is the token chosen for a position.
type Choice struct {
	Token   int32
	LogProb float32   // of Token; only where Params.LogProbs > 0
	Top     []LogProb // the Params.LogProbs most probable tokens, best first
}

// LogProb is a token's natural log-probability under the model alone.
type LogProb struct {
	Token   int32
	LogProb float32
}

// Sampler chooses tokens. It keeps scratch memory between calls and is for one
// goroutine at a time.
type Sampler struct {
	params Params
	vocab  int

	logits     []float32   // the logits after penalties and bias
	candidates []candidate // what top-k leaves
	kept       []candidate // what top-p and min-p leave
	counts     map[int32]int
	mask       []uint32 // nil for all tokens
	breakers   Breakers
	lengths    []int32 // of repeats
}

// candidate is a token with its logit, and later its unnormalised probability.
type candidate struct {
	token int32
	logit float32
	p     float64
}

// before is the order of everything here: descending, of equals the lower id.
func (a candidate) before(b candidate) bool {
	return a.logit > b.logit || a.logit == b.logit && a.token < b.token
}

// New returns a sampler for logits of vocab tokens, or an error wrapping
// ErrParams.
func New(vocab int, params Params) (*Sampler, error) {
	if vocab < 1 || vocab > math.MaxInt32 {
		return nil, fmt.Errorf("a vocabulary of %d tokens: %w", vocab, ErrParams)
	}
	if err := params.Validate(vocab); err != nil {
		return nil, err
	}
	return &Sampler{params: params, vocab: vocab, counts: map[int32]int{}}, nil
}

// SetMask says which tokens the choices after it may be of: bit t%32 of word t/32 for
// token t. nil lets all through. The words are read when a token is chosen.
func (s *Sampler) SetMask(words []uint32) { s.mask = words }

// Sample chooses the token for a position from its logits, one for each token of
// the vocabulary, which stay as they are. history holds the session's tokens
// before it, oldest first; only penalties and DRY look at it.
//
// It returns an error wrapping ErrLogits where the logits are of another number,
// where one is NaN or +Inf, or where all that the mask lets through are −Inf.
func (s *Sampler) Sample(logits []float32, history []int32, position int) (Choice, error) {
	if err := s.check(logits); err != nil {
		return Choice{}, err
	}
	s.logits = append(s.logits[:0], logits...)
	s.penalize(history)
	s.dry(history)
	s.bias()
	s.cover()
	token, err := s.choose(position)
	if err != nil {
		return Choice{}, err
	}
	choice := Choice{Token: token}
	if s.params.LogProbs > 0 {
		choice.LogProb, choice.Top = LogProbs(logits, token, s.params.LogProbs)
	}
	return choice, nil
}

func (s *Sampler) check(logits []float32) error {
	if len(logits) != s.vocab {
		return fmt.Errorf("%d logits for a vocabulary of %d tokens: %w", len(logits), s.vocab, ErrLogits)
	}
	for i, l := range logits {
		if l != l || l > math.MaxFloat32 {
			return fmt.Errorf("the logit of token %d is %v: the weights of the model or of an adapter may be damaged: %w", i, l,
				ErrLogits)
		}
	}
	return nil
}

// penalize lowers the logits of tokens already seen. Tokens outside of the
// vocabulary, such as the placeholders of soft tokens, count for nothing.
func (s *Sampler) penalize(history []int32) {
	if !s.params.Penalizes() {
		return
	}
	clear(s.counts)
	for _, t := range s.params.Window(history) {
		if t >= 0 && int(t) < s.vocab {
			s.counts[t]++
		}
	}
	repetition := s.params.Repetition()
	for t, n := range s.counts {
		l := s.logits[t]
		if l > 0 {
			l /= repetition
		} else {
			l *= repetition
		}
		s.logits[t] = l - s.params.PresencePenalty - s.params.FrequencyPenalty*float32(n)
	}
}

func (s *Sampler) bias() {
	for t, b := range s.params.LogitBias {
		s.logits[t] += b
	}
}

// cover forbids the tokens that the mask lacks.
func (s *Sampler) cover() {
	forbidden := float32(math.Inf(-1))
	for i, w := range s.mask {
		for t := 32 * i; w != math.MaxUint32 && t < min(32*i+32, s.vocab); t++ {
			if w>>(t&31)&1 == 0 {
				s.logits[t] = forbidden
			}
		}
	}
}

func (s *Sampler) choose(position int) (int32, error) {
	best := argmax(s.logits)
	if math.IsInf(float64(s.logits[best]), 0) {
		return 0, fmt.Errorf("the largest logit is %v after penalties and bias: every token is forbidden, or a "+
			"value overflowed: %w", s.logits[best], ErrLogits)
	}
	if s.params.Greedy() {
		return int32(best), nil
	}
	s.topNSigma(s.logits[best])
	s.topK(s.logits[best])
	total := s.softmax()
	u := float64(Uniform(s.params.Seed, uint32(position)))
	if filters(s.params) {
		return s.pick(u * s.filter(position)), nil
	}
	if keepsAll(s.params) {
		return s.walk(u * total), nil
	}
	sum := s.nucleus(total)
	return s.pick(u * sum), nil
}

func argmax(logits []float32) int {
	best := 0
	for i, l := range logits {
		if l > logits[best] {
			best = i
		}
	}
	return best
}

// topK gathers the candidates, divided by the temperature, as a heap with the
// best on top. The largest logit is subtracted first, which the softmax does not
// notice, so that a small temperature overflows downwards only.
func (s *Sampler) topK(top float32) {
	temperature := s.params.Temperature
	if s.params.DynatempRange > 0 {
		temperature = 1 // see varyTemperature
	}
	s.candidates = s.candidates[:0]
	for t, l := range s.logits {
		s.candidates = append(s.candidates, candidate{token: int32(t), logit: (l - top) / temperature})
	}
	if k := s.params.TopK; k > 0 && k < len(s.candidates) {
		s.candidates = largest(s.candidates, k)
	}
	heapify(s.candidates, candidate.before)
}

// softmax sets each candidate's probability but for the common factor 1 / total.
func (s *Sampler) softmax() (total float64) {
	for i := range s.candidates {
		c := &s.candidates[i]
		c.p = math.Exp(float64(c.logit))
		total += c.p
	}
	return total
}

// nucleus keeps what top-p and min-p leave, in descending order, and returns its
// sum. Candidates come off the heap one by one, so that a large vocabulary is
// never sorted as a whole.
func (s *Sampler) nucleus(total float64) (sum float64) {
	topP, minP := topP(s.params)*total, float64(s.params.MinP)
	s.kept = s.kept[:0]
	for heap := s.candidates; len(heap) > 0 && sum < topP; {
		next := pop(&heap, candidate.before)
		if next.p == 0 || len(s.kept) > 0 && next.p < minP*s.kept[0].p {
			break
		}
		s.kept = append(s.kept, next)
		sum += next.p
	}
	return sum
}

// pick walks what was kept until the sum of its probabilities exceeds the target.
func (s *Sampler) pick(target float64) int32 {
	cumulative := 0.0
	for _, c := range s.kept {
		cumulative += c.p
		if cumulative > target {
			return c.token
		}
	}
	return s.kept[len(s.kept)-1].token
}

// walk is nucleus and pick in one, for when every candidate is kept: it takes no
// more of them off the heap than it passes.
func (s *Sampler) walk(target float64) int32 {
	var last candidate
	cumulative := 0.0
	for heap := s.candidates; len(heap) > 0 && cumulative <= target; {
		next := pop(&heap, candidate.before)
		if next.p == 0 {
			break
		}
		last = next
		cumulative += last.p
	}
	return last.token
}

package grammar

import (
	"fmt"
	"slices"
	"sync"
)

// Constraint is a form compiled for a vocabulary. Any number of matchers and goroutines may use it; they share what it
// learns.
type Constraint struct {
	vocabulary *Vocabulary
	mutex      sync.Mutex // guards what follows
	machine    *machine
	walker     *walker
	locals     map[regexID]*localMask
	localBytes int
	recent     []regexID // states of which locals has masks
}

func newConstraint(v *Vocabulary, p *program) (*Constraint, error) {
	if p.own.err != nil {
		return nil, p.own.err
	}
	err := p.finish()
	p.made = nil // which holds all that was read of a schema
	if err != nil {
		return nil, err
	}
	m, err := newMachine(p)
	if err != nil {
		return nil, err
	}
	return &Constraint{vocabulary: v, machine: m, locals: map[regexID]*localMask{}}, nil
}

// Vocabulary is the vocabulary that the constraint is for.
func (c *Constraint) Vocabulary() *Vocabulary { return c.vocabulary }

// New returns a matcher at the beginning of an answer.
func (c *Constraint) New() *Matcher { return &Matcher{constraint: c, at: c.machine.start} }

// lock takes the constraint for one operation, and keeps its memory within bounds.
func (c *Constraint) lock() {
	c.mutex.Lock()
	if c.walker == nil {
		c.walker = newWalker(c.vocabulary)
	}
	if c.machine.bytes > maxMachineBytes {
		c.machine.forget()
	}
	c.machine.prog.own.renew()
}

// Matcher is a place in an answer. It is for one goroutine at a time.
type Matcher struct {
	constraint *Constraint
	at         *config
	ended      bool
	before     []*config // by token accepted
}

// Mask writes the tokens that may come next to dst as bits: token t is bit t%32 of word t/32. dst has Words
// words of the
// vocabulary. The end tokens are among them where the answer may end. After an end token the mask is empty.
func (m *Matcher) Mask(dst []uint32) error {
	c := m.constraint
	if len(dst) != c.vocabulary.Words() {
		return fmt.Errorf("%w: a mask of %d words for a vocabulary of %d", ErrVocabulary, len(dst), c.vocabulary.Words())
	}
	clear(dst)
	if m.ended {
		return nil
	}
	c.lock()
	defer c.mutex.Unlock()
	allowed, err := c.maskOf(m.at)
	if err != nil {
		return err
	}
	copy(dst, allowed.words)
	for _, t := range allowed.list {
		dst[t>>5] |= 1 << (t & 31)
	}
	return nil
}

// Accept goes one token on. A token that the form does not allow is refused with ErrToken, and nothing changes.
func (m *Matcher) Accept(token int) error {
	c := m.constraint
	v := c.vocabulary
	if token < 0 || token >= v.Len() {
		return fmt.Errorf("%w: there is no token %d", ErrToken, token)
	}
	if m.ended {
		return fmt.Errorf("%w: token %d behind the end", ErrToken, token)
	}
	if v.isEnd(int32(token)) {
		if !m.at.accepts {
			return fmt.Errorf("%w: the answer is not complete, token %d would end it", ErrToken, token)
		}
		m.before, m.ended = append(m.before, m.at), true
		return nil
	}
	piece := v.piece(int32(token))
	if to, err := m.walk(piece); err != nil {
		return err
	} else if to != nil && len(piece) > 0 {
		m.before, m.at = append(m.before, m.at), to
		return nil
	}
	return fmt.Errorf("%w: token %d (%q)", ErrToken, token, v.pieces[token])
}

// walk is the config after some bytes, or nil where they do not fit.
func (m *Matcher) walk(text []byte) (*config, error) {
	c := m.constraint
	c.lock()
	defer c.mutex.Unlock()
	at := m.at
	for _, b := range text {
		if at = c.machine.step(at, b); at == nil {
			return nil, c.machine.err
		}
	}
	return at, nil
}

// Fits tells whether a whole text fits from here to the end, without going on.
func (m *Matcher) Fits(text []byte) (bool, error) {
	if m.ended || slices.ContainsFunc(text, isMarker) {
		return false, nil
	}
	to, err := m.walk(text)
	return to != nil && to.accepts, err
}

// Rollback takes the last n tokens back.
func (m *Matcher) Rollback(n int) error {
	if n < 0 || n > len(m.before) {
		return fmt.Errorf("%w: %d tokens taken back of %d", ErrToken, n, len(m.before))
	}
	if n > 0 {
		m.at, m.ended = m.before[len(m.before)-n], false
		m.before = m.before[:len(m.before)-n]
	}
	return nil
}

// Len is the number of tokens accepted.
func (m *Matcher) Len() int { return len(m.before) }

// Done tells whether the answer may end here.
func (m *Matcher) Done() bool { return m.ended || m.at.accepts }

// Complete tells whether the answer must end here: an end token is all that may come.
func (m *Matcher) Complete() bool { return m.ended || m.at.accepts && len(m.at.threads) == 0 }

// maxForced bounds what Forced returns.
const maxForced = 1 << 12

// Forced returns the bytes that must come next, up to the first choice; at most 4096. How they are split into tokens is
// for the tokenizer to say: the last of them may be joined with what follows. They end before a control token; see
// ForcedControl.
func (m *Matcher) Forced() ([]byte, error) {
	if m.ended {
		return nil, nil
	}
	c := m.constraint
	c.lock()
	defer c.mutex.Unlock()
	var out []byte
	for at := m.at; !at.accepts && at.live.len() == 1 && len(out) < maxForced; {
		b := at.live.first()
		if isMarker(b) {
			break
		}
		if at = c.machine.step(at, b); at == nil {
			return out, c.machine.err
		}
		out = append(out, b)
	}
	return out, nil
}

// ForcedControl returns the control token that must come next, one of those that the vocabulary was made with.
func (m *Matcher) ForcedControl() (token int, ok bool) {
	if m.ended || m.at.accepts || m.at.live.len() != 1 || !isMarker(m.at.live.first()) {
		return 0, false
	}
	return int(m.constraint.vocabulary.controls[m.at.live.first()-firstMarker]), true
}

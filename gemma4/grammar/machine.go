package grammar

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// A machine runs a program over bytes. What it keeps for a text is a config: all the places where the grammar may be.
// Configs, stacks and frames are kept once each, so that texts that lead to the same places share them, and the steps
// from one to the next are remembered.
type machine struct {
	prog    *program
	configs map[string]*config
	stacks  map[string]*stack
	serial  uint64
	key     []byte
	err     error

	todo    []visit
	visited map[visitKey]struct{}
	found   map[threadKey]int
	threads []thread
	accepts bool
	start   *config
	bytes   int // what the configs and masks hold, roughly
}

// thread is one place: within a terminal, with the stack of what comes behind the rule that it is in.
type thread struct {
	at    int32 // symbol
	state regexID
	stack *stack
}

// stack is a set of frames: the ways in which a rule may be left. All of them are stacks of their own below.
type stack struct {
	id     uint64
	bottom bool // the grammar may be complete here
	frames []frame
}

// frame is a place to go on at, and what is below it.
type frame struct {
	at    int32
	below *stack
}

// config is a set of threads. It is never empty of both threads and acceptance.
type config struct {
	threads []thread
	accepts bool
	live    byteSet
	few     []edge
	all     *[256]*config
	mask    *mask
}

type edge struct {
	c  byte
	to *config
}

type visit struct {
	at    int32
	stack *stack
}

type visitKey struct {
	at    int32
	stack uint64
}

type threadKey struct {
	at    int32
	state regexID
}

// Limits of a machine.
const (
	maxThreads      = 1 << 14 // in one config
	maxFrames       = 1 << 14 // in one stack
	maxMachineBytes = 1 << 25 // remembered configs and masks; all are forgotten when they hold more
	maxStepBytes    = 1 << 27 // what is remembered in the middle of a step
	maxVisits       = 1 << 18 // places looked at in one step
)

func newMachine(p *program) (*machine, error) {
	m := &machine{prog: p, visited: map[visitKey]struct{}{}, found: map[threadKey]int{}}
	m.forget()
	bottom := m.stackOf(nil, true)
	m.begin()
	for _, at := range p.alternatives(p.start) {
		m.enter(at, bottom)
	}
	m.start = m.end()
	if m.err != nil {
		return nil, m.err
	}
	if m.start == nil {
		return nil, fmt.Errorf("%w it", ErrUnsatisfiable)
	}
	return m, nil
}

// forget drops everything that is remembered, to bound memory. Configs in use stay valid.
func (m *machine) forget() {
	for _, c := range m.configs {
		c.few, c.all, c.mask = nil, nil, nil
	}
	m.configs, m.stacks, m.bytes = map[string]*config{}, map[string]*stack{}, 0
}

// stackOf returns the stack of some frames, which it sorts.
func (m *machine) stackOf(frames []frame, bottom bool) *stack {
	slices.SortFunc(frames, func(a, b frame) int {
		if a.at != b.at {
			return int(a.at) - int(b.at)
		}
		return int(int64(a.below.id) - int64(b.below.id))
	})
	frames = slices.Compact(frames)
	k := append(m.key[:0], flag(bottom))
	for _, f := range frames {
		k = binary.AppendUvarint(k, uint64(f.at))
		k = binary.AppendUvarint(k, f.below.id)
	}
	m.key = k
	if s, ok := m.stacks[string(k)]; ok {
		return s
	}
	if len(frames) > maxFrames {
		m.fail("a rule can be left in over %d ways", maxFrames)
	}
	if m.bytes > maxStepBytes {
		m.fail("a text can be read in so many ways that they take over %d MB", maxStepBytes>>20)
	}
	m.serial++
	s := &stack{id: m.serial, bottom: bottom, frames: frames}
	m.stacks[string(k)] = s
	m.bytes += 64 + 3*len(k) + 16*len(frames)
	return s
}

// check takes over what has become too much for the expressions.
func (m *machine) check() {
	if m.err == nil && m.prog.own.err != nil {
		m.err = m.prog.tooComplex()
	}
}

func (m *machine) fail(format string, args ...any) {
	if m.err == nil {
		m.err = fmt.Errorf("%w: "+format, append([]any{ErrTooComplex}, args...)...)
	}
}

// union is the stack of the frames of both.
func (m *machine) union(a, b *stack) *stack {
	if a == b {
		return a
	}
	frames := make([]frame, 0, len(a.frames)+len(b.frames))
	return m.stackOf(append(append(frames, a.frames...), b.frames...), a.bottom || b.bottom)
}

func (m *machine) begin() {
	m.threads, m.accepts = m.threads[:0], false
	clear(m.visited)
	clear(m.found)
}

// enter adds the threads of all terminals that may come at a place.
func (m *machine) enter(at int32, s *stack) {
	m.todo = append(m.todo[:0], visit{at, s})
	for len(m.todo) > 0 && m.err == nil {
		v := m.todo[len(m.todo)-1]
		m.todo = m.todo[:len(m.todo)-1]
		key := visitKey{v.at, v.stack.id}
		if _, seen := m.visited[key]; seen {
			continue
		}
		m.visited[key] = struct{}{}
		if len(m.visited)%(1<<10) == 0 {
			m.prog.own.heed()
			m.check()
		}
		if len(m.visited) > maxVisits {
			m.fail("a byte leads to over %d places", maxVisits)
		}
		m.visit(v)
	}
}

func (m *machine) visit(v visit) {
	p := m.prog
	switch s := p.symbols[v.at]; s.kind {
	case symbolEnd:
		m.accepts = m.accepts || v.stack.bottom
		for _, f := range v.stack.frames {
			m.todo = append(m.todo, visit{f.at, f.below})
		}
	case symbolRule:
		below := v.stack
		if p.symbols[v.at+1].kind != symbolEnd { // else it is left together with this rule
			below = m.stackOf([]frame{{v.at + 1, v.stack}}, false)
		}
		for _, at := range p.alternatives(s.id) {
			m.todo = append(m.todo, visit{at, below})
		}
	case symbolTerm:
		m.add(thread{v.at, regexID(s.id), v.stack})
		if p.own.nullable(regexID(s.id)) {
			m.todo = append(m.todo, visit{v.at + 1, v.stack})
		}
	}
}

// add adds a thread, or its stack to that of the thread that is in the same place.
func (m *machine) add(t thread) {
	key := threadKey{t.at, t.state}
	if i, ok := m.found[key]; ok {
		m.threads[i].stack = m.union(m.threads[i].stack, t.stack)
		return
	}
	if m.prog.own.live(t.state).empty() {
		m.prog.check(t.at)
		return
	}
	if len(m.threads) >= maxThreads {
		m.fail("a text can be read in over %d ways", maxThreads)
		return
	}
	m.found[key] = len(m.threads)
	m.threads = append(m.threads, t)
}

// end returns the config of the threads added since begin, or nil if no text gets there.
func (m *machine) end() *config {
	m.check()
	if m.err != nil || len(m.threads) == 0 && !m.accepts {
		return nil
	}
	slices.SortFunc(m.threads, func(a, b thread) int {
		if a.at != b.at {
			return int(a.at) - int(b.at)
		}
		return int(a.state) - int(b.state)
	})
	return m.configOf(m.threads, m.accepts)
}

// configOf returns the config of sorted threads, which it copies.
func (m *machine) configOf(threads []thread, accepts bool) *config {
	k := append(m.key[:0], flag(accepts))
	for _, t := range threads {
		k = binary.AppendUvarint(k, uint64(t.at))
		k = binary.AppendUvarint(k, uint64(t.state))
		k = binary.AppendUvarint(k, t.stack.id)
	}
	m.key = k
	if c, ok := m.configs[string(k)]; ok {
		return c
	}
	c := &config{threads: slices.Clone(threads), accepts: accepts}
	for _, t := range threads {
		c.live.union(m.prog.own.live(t.state))
	}
	m.configs[string(k)] = c
	m.bytes += 200 + 2*len(k) + 24*len(threads)
	return c
}

// step is the config after a byte, or nil if the grammar does not allow it. The config must be of this machine.
func (m *machine) step(c *config, b byte) *config {
	if !c.live.has(b) {
		return nil
	}
	if c.all != nil {
		if to := c.all[b]; to != nil {
			return to
		}
	} else {
		for _, e := range c.few {
			if e.c == b {
				return e.to
			}
		}
	}
	to := m.advance(c, b)
	if to != nil {
		m.remember(c, b, to)
	}
	return to
}

// maxFew is the number of steps that a config remembers as a list.
const maxFew = 6

func (m *machine) remember(c *config, b byte, to *config) {
	if c.all == nil && len(c.few) < maxFew {
		c.few = append(c.few, edge{b, to})
		m.bytes += 16
		return
	}
	if c.all == nil {
		c.all = new([256]*config)
		for _, e := range c.few {
			c.all[e.c] = e.to
		}
		c.few = nil
		m.bytes += 2048
	}
	c.all[b] = to
}

func (m *machine) advance(c *config, b byte) *config {
	m.begin()
	for _, t := range c.threads {
		r := m.prog.own
		next := r.step(t.state, b)
		if next == regexNone {
			m.prog.check(t.at)
			continue
		}
		m.add(thread{t.at, next, t.stack})
		if r.nullable(next) {
			m.enter(t.at+1, t.stack)
		}
	}
	return m.end()
}

// behind is the config behind the terminal of a thread.
func (m *machine) behind(t thread) *config {
	m.begin()
	m.enter(t.at+1, t.stack)
	return m.end()
}

package maskbench

import (
	"context"
	"fmt"
	"io"
	"runtime"

	"github.com/gemwire/gemwire/gemma4/grammar"
)

// Memory is what the heap holds, in bytes: measured before and behind, garbage collected.
type Memory struct {
	Vocabulary int64 `json:"vocabulary"` // the tables that all schemas share, the pieces themselves apart
	Shared     int64 `json:"shared"`     // masks of the states that all JSON shares, kept with the vocabulary once made
	Schemas    int   `json:"schemas"`    // that were measured
	Compiled   Sizes `json:"compiled"`   // one schema, up to its first mask
	Followed   Sizes `json:"followed"`   // the same with what it learned from its instances
}

// Sizes are figures of many sizes, in bytes.
type Sizes struct {
	Average int64 `json:"average"`
	Most    int64 `json:"most"`
}

func (s *Sizes) add(bytes int64, n int) {
	s.Average += (bytes - s.Average) / int64(n)
	s.Most = max(s.Most, bytes)
}

// mostMeasured bounds the schemas whose memory is measured, for each of which garbage is collected several times.
const mostMeasured = 300

// MeasureMemory compiles a sample of the schemas once more, with a vocabulary of its own.
func MeasureMemory(ctx context.Context, o Options, pieces [][]byte, ends []int) (*Memory, error) {
	names, err := o.names()
	if err != nil {
		return nil, err
	}
	o.Every = max(o.Every, 1) * max(len(names)/mostMeasured, 1)
	if names, err = o.names(); err != nil {
		return nil, err
	}
	o.Split = Longest(pieces)
	m, before := &Memory{}, heap()
	v, err := grammar.NewVocabulary(pieces, ends)
	if err != nil {
		return nil, err
	}
	m.Vocabulary = heap() - before
	o.Vocabulary, o.Masks, o.Progress = v, true, nil
	if _, err := Run(ctx, o); err != nil { // makes the masks that the vocabulary keeps
		return nil, err
	}
	m.Shared = heap() - before - m.Vocabulary
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := m.measure(ctx, o, name); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// measure adds one schema, unless it is refused.
func (m *Memory) measure(ctx context.Context, o Options, name string) error {
	f, err := readFile(name)
	if err != nil {
		return err
	}
	before := heap() // that of the file among it
	c, err := grammar.Compile(ctx, o.Vocabulary, o.form(f))
	if err == nil {
		err = c.New().Mask(make([]uint32, o.Vocabulary.Words()))
	}
	if err != nil {
		return nil // what is refused holds nothing
	}
	m.Schemas++
	compiled := heap() - before
	m.Compiled.add(compiled, m.Schemas)
	for _, t := range f.Tests {
		text, err := spaced(t.Data)
		if err != nil {
			return fmt.Errorf("%w: %s: %w", ErrData, name, err)
		}
		if _, err := o.accepts(c, text, &Outcome{}); err != nil {
			break // too complex for this text
		}
	}
	learned := heap() - before - compiled
	m.Followed.add(compiled+max(0, learned), m.Schemas) // others' garbage may have gone meanwhile
	runtime.KeepAlive(c)
	runtime.KeepAlive(f)
	return nil
}

// heap is the bytes in use, garbage collected.
func heap() int64 {
	var s runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}

func (m *Memory) write(w io.Writer) error {
	_, err := fmt.Fprintf(w, `vocabulary, kB   tables %d, masks that all JSON shares %d
one schema, kB   compiled: average %d, most %d; instances followed: average %d, most %d (%d schemas)
`, m.Vocabulary>>10, m.Shared>>10, m.Compiled.Average>>10, m.Compiled.Most>>10,
		m.Followed.Average>>10, m.Followed.Most>>10, m.Schemas)
	return err
}

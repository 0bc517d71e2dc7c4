package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gemwire/gemwire/finetune/dataset"
)

const (
	// defaultLength is where examples are cut off if nothing is said, in tokens.
	defaultLength = 2048
	// mostNamed bounds the lines that a report names.
	mostNamed = 1000
	// mostShown bounds the examples of one preview, and shownByDefault is how many
	// there are if nothing is said.
	mostShown, shownByDefault = 100, 5
)

func (p *DataParams) check() error {
	switch {
	case p.BadLines != "" && p.BadLines != RefuseBadLines && p.BadLines != SkipBadLines:
		return fmt.Errorf("%w: badLines %q; there are %q and %q", errArgument, p.BadLines, RefuseBadLines, SkipBadLines)
	case p.MaxLength != nil && *p.MaxLength < 0:
		return fmt.Errorf("%w: a maxLength of %d", errArgument, *p.MaxLength)
	}
	return nil
}

func (p *DataParams) options() dataset.LoadOptions {
	length := defaultLength
	set(&length, p.MaxLength)
	return dataset.LoadOptions{
		EncodeOptions: dataset.EncodeOptions{MaxLength: length, AllTurns: p.AllTurns},
		Skip:          p.BadLines == SkipBadLines,
	}
}

// load makes examples of lines. refs say to which of them the media belong.
func (c *call) load(ctx context.Context, m *openModel, lines []byte, p DataParams, refs []MediaRef,
	media [][]byte) (*dataset.Set, error) {
	if len(refs) != len(media) {
		return nil, fmt.Errorf("%w: %s with %d binaries for %d media", errProtocol, c.Op, len(media), len(refs))
	}
	byLine := map[int][]int{}
	for i, ref := range refs {
		byLine[ref.Example] = append(byLine[ref.Example], i)
	}
	options := p.options()
	options.Prepare = func(r *dataset.Record) error {
		for _, i := range byLine[r.Line] {
			if err := placeOne(r.Conversation.Messages, refs[i], media[i]); err != nil {
				return err
			}
		}
		return nil
	}
	defer m.audience.join(c)()
	return dataset.Load(ctx, m, bytes.NewReader(lines), options)
}

// previewData tells what a model sees of training data, bad lines and all.
func (c *call) previewData(ctx context.Context, m *openModel, p PreviewParams) (any, error) {
	if err := p.Data.check(); err != nil {
		return nil, err
	}
	if len(c.binaries) == 0 {
		return nil, fmt.Errorf("%w: %s without data", errProtocol, c.Op)
	}
	p.Data.BadLines = SkipBadLines
	set, err := c.load(ctx, m, c.binaries[0], p.Data, p.Media, c.binaries[1:])
	if err != nil && !errors.Is(err, dataset.ErrLine) {
		return nil, err
	}
	e := &examples{train: set.Whole(), bad: set.Bad}
	shown, err := e.show(m, p.First, p.Count)
	return PreviewResult{Report: e.report(), Examples: shown}, err
}

// examples are those of a run.
type examples struct {
	train, held []dataset.Example
	apart       bool // held is data of its own
	bad         []*dataset.LineError
}

func (e *examples) report() DataReport {
	r := DataReport{Examples: len(e.train), HeldOut: len(e.held), Bad: []BadLine{}, Cut: []CutLine{},
		HeldOutLines: []int{}}
	for i := range e.train {
		r.Tokens += int64(len(e.train[i].Tokens))
		r.Targets += int64(e.train[i].Asked())
	}
	for _, bad := range e.bad[:min(len(e.bad), mostNamed)] {
		r.Bad = append(r.Bad, BadLine{Line: bad.Line, Message: bad.Err.Error()})
	}
	for _, list := range [][]dataset.Example{e.train, e.held} {
		for i := range list {
			if list[i].Cut > 0 && len(r.Cut) < mostNamed {
				r.Cut = append(r.Cut, CutLine{Line: list[i].Line, Tokens: list[i].Cut})
			}
		}
	}
	if !e.apart {
		r.HeldOutLines = linesOf(e.held)
	}
	return r
}

// linesOf are the lines that examples were made of, the first thousand.
func linesOf(list []dataset.Example) []int {
	lines := []int{}
	for i := range list {
		if line := list[i].Line; len(lines) < mostNamed && !slices.Contains(lines[max(0, len(lines)-1):], line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// show spells some examples, those that are held out behind the others.
func (e *examples) show(m *openModel, first, count int) ([]PreviewExample, error) {
	count = min(cmp.Or(count, shownByDefault), mostShown)
	if first < 0 || count < 0 {
		return nil, fmt.Errorf("%w: %d examples from %d on", errArgument, count, first)
	}
	shown := []PreviewExample{}
	for i := first; i < min(first+count, len(e.train)+len(e.held)); i++ {
		one, err := spell(m, e.at(i))
		if err != nil {
			return nil, err
		}
		one.HeldOut = i >= len(e.train)
		shown = append(shown, one)
	}
	return shown, nil
}

func (e *examples) at(i int) *dataset.Example {
	if i < len(e.train) {
		return &e.train[i]
	}
	return &e.held[i-len(e.train)]
}

func spell(m *openModel, e *dataset.Example) (PreviewExample, error) {
	pieces, err := dataset.Preview(m.Tokenizer(), e)
	out := PreviewExample{Line: e.Line, Tokens: len(e.Tokens), Targets: e.Asked(), Cut: e.Cut, Pieces: []PreviewPiece{}}
	for _, p := range pieces {
		out.Pieces = append(out.Pieces, PreviewPiece{Text: p.Text, Target: p.Target})
	}
	return out, err
}

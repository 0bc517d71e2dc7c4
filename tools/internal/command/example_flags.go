package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"github.com/gemwire/gemwire/finetune/dataset"
	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

// exampleFlags say how lines of a JSONL file become examples.
type exampleFlags struct {
	maxLength int
	allTurns  bool
	skip      bool
}

func (f *exampleFlags) register(flags *pflag.FlagSet) {
	flags.IntVar(&f.maxLength, "max-length", 2048, "cut examples off after so many `TOKENS`; 0 never does")
	flags.BoolVar(&f.allTurns, "all-turns", false, "every answer of a conversation counts, not just the last")
	flags.BoolVar(&f.skip, "skip-bad-lines", false, "pass over lines that are no examples, instead of refusing the file")
}

func (f *exampleFlags) check() error {
	if f.maxLength < 0 {
		return usagef("--max-length is %d, wanted 0 or more", f.maxLength)
	}
	return nil
}

// exampleSet is what was made of a file.
type exampleSet struct {
	file     string
	records  []dataset.Record    // those with examples
	examples [][]dataset.Example // of each record
	bad      []*dataset.LineError
}

// read makes examples of a file, - for standard input.
func (f *exampleFlags) read(ctx context.Context, env *environment, model *gemma4.Model, path string) (*exampleSet, error) {
	r := env.in
	if path != standardOutput {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		r = file
	}
	set, err := f.encode(ctx, env, model, r)
	if errors.Is(err, dataset.ErrLine) && !f.skip {
		err = fmt.Errorf("%s: %w; --skip-bad-lines passes over them", path, err)
	} else if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	if set != nil {
		set.file = path
	}
	return set, err
}

func (f *exampleFlags) encode(ctx context.Context, env *environment, model *gemma4.Model, r io.Reader) (*exampleSet, error) {
	records, bad, err := dataset.Read(ctx, r, dataset.ReadOptions{Skip: f.skip})
	if err != nil {
		return nil, err
	}
	progress := terminal.NewProgress(env.err, false)
	defer progress.Clear()
	set := &exampleSet{bad: bad}
	for i, record := range records {
		progress.Set("reading the examples", int64(i), int64(len(records)))
		examples, err := dataset.Encode(ctx, model, record, dataset.EncodeOptions{MaxLength: f.maxLength, AllTurns: f.allTurns})
		var line *dataset.LineError
		switch {
		case err == nil:
			set.records, set.examples = append(set.records, record), append(set.examples, examples)
		case f.skip && errors.As(err, &line):
			set.bad = append(set.bad, line)
		default:
			return nil, err
		}
	}
	if len(set.records) == 0 {
		return nil, fmt.Errorf("%w: no line is usable", dataset.ErrLine)
	}
	return set, nil
}

// all are the examples of some records, in order.
func (s *exampleSet) all(records []int) []dataset.Example {
	var all []dataset.Example
	for _, i := range records {
		all = append(all, s.examples[i]...)
	}
	return all
}

// mostNamed bounds how many lines are named.
const mostNamed = 5

// warn says aloud which lines were passed over and which were cut.
func (s *exampleSet) warn(env *environment) {
	for i, e := range s.bad {
		if i == mostNamed {
			env.say("skipped    and %d more", len(s.bad)-mostNamed)
			break
		}
		env.say("skipped    %s", sentence(e))
	}
	cut, tokens, first := 0, 0, 0
	for _, examples := range s.examples {
		for _, e := range examples {
			if e.Cut == 0 {
				continue
			}
			if cut++; first == 0 {
				first = e.Line
			}
			tokens += e.Cut
		}
	}
	if cut > 0 {
		env.say("cut        %d examples lost their ends, %d tokens together, the first in line %d; --max-length allows longer ones", cut, tokens, first)
	}
}

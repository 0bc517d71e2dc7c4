package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/gemwire/gemwire/finetune/dataset"
	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

// exampleFlags say how lines of a JSONL file become examples.
type exampleFlags struct {
	maxLength int
	allTurns  bool
	skip      bool
	media     *mediaFlags // how images and recordings are taken
}

func (f *exampleFlags) register(flags *pflag.FlagSet) {
	flags.IntVar(&f.maxLength, "max-length", 2048, "truncate examples after this many `TOKENS`; 0 means never")
	flags.BoolVar(&f.allTurns, "all-turns", false, "every answer of a conversation counts, not just the last")
	flags.BoolVar(&f.skip, "skip-bad-lines", false, "skip bad lines instead of refusing the file")
}

func (f *exampleFlags) check() error {
	if f.maxLength < 0 {
		return cli.Usagef("--max-length is %d, wanted 0 or more", f.maxLength)
	}
	return nil
}

// read makes examples of a file, - for standard input.
func (f *exampleFlags) read(ctx context.Context, env *cli.Environment, model *gemma4.Model,
	path string) (*dataset.Set, error) {
	r, folder := env.In, "."
	if path != cli.StandardOutput {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		r, folder = file, filepath.Dir(path)
	}
	progress := terminal.NewProgress(env.Err, false)
	defer progress.Clear()
	set, err := dataset.Load(ctx, model, r, dataset.LoadOptions{
		EncodeOptions: dataset.EncodeOptions{MaxLength: f.maxLength, AllTurns: f.allTurns}, Skip: f.skip,
		Prepare:  func(r *dataset.Record) error { return f.readMedia(r, folder) },
		Progress: func(done, total int) { progress.Set("reading the examples", int64(done), int64(total)) },
	})
	if errors.Is(err, dataset.ErrLine) && !f.skip {
		err = fmt.Errorf("%s: %w; --skip-bad-lines skips them", path, err)
	} else if about := (*fs.PathError)(nil); err != nil && !errors.As(err, &about) {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return set, err
}

// mostNamed bounds how many lines are named.
const mostNamed = 5

// warnOf says aloud which lines were passed over and which were cut.
func warnOf(env *cli.Environment, s *dataset.Set) {
	for i, e := range s.Bad {
		if i == mostNamed {
			env.Say("skipped    and %d more", len(s.Bad)-mostNamed)
			break
		}
		env.Say("skipped    %s", cli.Sentence(e))
	}
	cut, tokens, first := 0, 0, 0
	for _, examples := range s.Examples {
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
		env.Say(
			"cut        %d examples were truncated by %d tokens in total, the first in line %d; --max-length "+
				"allows longer ones", cut, tokens, first)
	}
}

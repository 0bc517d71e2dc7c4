package flagset

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

// Examples say how lines of a JSONL file become examples.
type Examples struct {
	maxLength int
	allTurns  bool
	skip      bool
	Media     *Media // how images and recordings are taken
}

func (f *Examples) Register(flags *pflag.FlagSet) {
	flags.IntVar(&f.maxLength, "max-length", 2048, "truncate examples after this many `TOKENS`; 0 means never")
	flags.BoolVar(&f.allTurns, "all-turns", false, "every answer of a conversation counts, not just the last")
	flags.BoolVar(&f.skip, "skip-bad-lines", false, "skip bad lines instead of refusing the file")
}

func (f *Examples) Check() error {
	if f.maxLength < 0 {
		return cli.Usagef("--max-length is %d, wanted 0 or more", f.maxLength)
	}
	return nil
}

// Read makes examples of a file, - for standard input.
func (f *Examples) Read(ctx context.Context, env *cli.Environment, model *gemma4.Model,
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

// MostNamed bounds how many lines are named.
const MostNamed = 5

// WarnOf says aloud which lines were passed over and which were cut.
func WarnOf(env *cli.Environment, s *dataset.Set) {
	for i, e := range s.Bad {
		if i == MostNamed {
			env.Say("skipped    and %d more", len(s.Bad)-MostNamed)
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
			"cut        %s truncated, by %s in total, the first in line %d; --max-length allows longer ones",
			cli.Counted(cut, "example"), cli.Counted(tokens, "token"), first)
	}
}

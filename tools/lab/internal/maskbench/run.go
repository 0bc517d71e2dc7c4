package maskbench

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gemwire/gemwire/gemma4/grammar"
)

// ErrData is returned for a folder that is not MaskBench's.
var ErrData = errors.New("maskbench: no data")

// Options say what is run.
type Options struct {
	Folder     string // with one JSON file for each schema
	Vocabulary *grammar.Vocabulary
	Split      func(text []byte) ([]int, error)
	Whitespace grammar.Whitespace
	AnyOrder   bool   // takes properties in any order, not that of the schema
	Masks      bool   // computes and times the mask before each token
	Only       string // schemas whose file names match, as filepath.Match has it; "" is all
	Every      int    // of those, one of so many in the order of their names; 0 is all
	Progress   func(done, total int)
}

// Outcome is what became of one schema.
type Outcome struct {
	Name     string
	Refused  error         // at compiling
	Compile  time.Duration // up to the first mask
	Tests    int
	Wrong    []string        // valid instances that were not accepted, by their place
	Accepted []string        // invalid ones that were
	Masks    []time.Duration // one for each token
}

// Passed tells whether all was right.
func (o *Outcome) Passed() bool { return o.Refused == nil && len(o.Wrong)+len(o.Accepted) == 0 }

type file struct {
	Schema json.RawMessage `json:"schema"`
	Tests  []struct {
		Valid bool            `json:"valid"`
		Data  json.RawMessage `json:"data"`
	} `json:"tests"`
}

// names lists the files of the schemas to try.
func (o *Options) names() ([]string, error) {
	pattern := cmp.Or(o.Only, "*")
	all, err := filepath.Glob(filepath.Join(o.Folder, pattern+".json"))
	if err != nil || len(all) == 0 {
		return nil, fmt.Errorf("%w: %s has no file %s.json", ErrData, o.Folder, pattern)
	}
	slices.Sort(all)
	if o.Every < 2 {
		return all, nil
	}
	var some []string
	for i := 0; i < len(all); i += o.Every {
		some = append(some, all[i])
	}
	return some, nil
}

// Run tries the schemas of a folder.
func Run(ctx context.Context, o Options) ([]Outcome, error) {
	names, err := o.names()
	if err != nil {
		return nil, err
	}
	out := make([]Outcome, 0, len(names))
	for i, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		one, err := o.try(ctx, name)
		if err != nil {
			return nil, err
		}
		out = append(out, one)
		if o.Progress != nil {
			o.Progress(i+1, len(names))
		}
	}
	return out, nil
}

func readFile(name string) (f file, err error) {
	raw, err := os.ReadFile(name)
	if err != nil {
		return f, err
	}
	if err := json.Unmarshal(raw, &f); err != nil {
		return f, fmt.Errorf("%w: %s: %w", ErrData, name, err)
	}
	return f, nil
}

func (o *Options) form(f file) grammar.Form {
	return grammar.Form{Schema: string(f.Schema), Whitespace: o.Whitespace, AnyOrder: o.AnyOrder}
}

func (o *Options) try(ctx context.Context, name string) (Outcome, error) {
	out := Outcome{Name: filepath.Base(name)}
	f, err := readFile(name)
	if err != nil {
		return out, err
	}
	begun := time.Now()
	c, err := grammar.Compile(ctx, o.Vocabulary, o.form(f))
	if err == nil && o.Masks {
		err = c.New().Mask(make([]uint32, o.Vocabulary.Words()))
	}
	out.Compile = time.Since(begun)
	if err != nil {
		out.Refused = err
		return out, nil
	}
	for i, t := range f.Tests {
		text, err := spaced(t.Data)
		if err != nil {
			return out, fmt.Errorf("%w: %s: %w", ErrData, name, err)
		}
		ok, err := o.accepts(c, text, &out)
		out.Tests++
		switch {
		case err != nil:
			out.Refused = err
		case ok && !t.Valid:
			out.Accepted = append(out.Accepted, fmt.Sprint(i))
		case !ok && t.Valid:
			out.Wrong = append(out.Wrong, fmt.Sprint(i))
		}
	}
	return out, nil
}

// accepts tells whether the constraint lets a whole text through, token by token, by its masks where they are computed.
func (o *Options) accepts(c *grammar.Constraint, text []byte, out *Outcome) (bool, error) {
	tokens, err := o.Split(text)
	if err != nil {
		return false, err
	}
	m := c.New()
	words := make([]uint32, o.Vocabulary.Words())
	for _, t := range tokens {
		allowed := true
		if o.Masks {
			begun := time.Now()
			if err := m.Mask(words); err != nil {
				return false, err
			}
			out.Masks = append(out.Masks, time.Since(begun))
			allowed = words[t/32]>>(t%32)&1 == 1
		}
		err := m.Accept(t)
		if err == nil != allowed && o.Masks {
			return false, fmt.Errorf("token %d: the mask says %v, the matcher %w", t, allowed, err)
		}
		if errors.Is(err, grammar.ErrToken) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return m.Done(), nil
}

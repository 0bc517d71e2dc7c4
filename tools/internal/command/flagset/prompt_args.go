package flagset

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/modelref"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

// maxInput bounds a text that is read from standard input.
const maxInput = 64 << 20

// TextArguments are the arguments [MODEL] [TEXT] of a command line.
type TextArguments struct {
	Env   *cli.Environment
	Model string // What --model says
	What  string // What the text is called
	// Joins says that piped text and a text among the arguments go together.
	Joins bool
}

// TextResult is what arguments and standard input say.
type TextResult struct {
	Model string
	Text  string // of the arguments, or of standard input where those have none
	Piped string // What was piped beside a text among the arguments
	None  bool   // no text, and standard input is a terminal
}

// Read reads the arguments. With two, the first is the model. A single one is the
// Model if it is the name of one that is there, or can be nothing else; --model
// settles it. "-" is standard input.
func (a TextArguments) Read(ctx context.Context, list []string) (r TextResult, err error) {
	if err := a.count(list); err != nil {
		return r, err
	}
	r.Model = a.Model
	given := len(list) > 0
	switch {
	case len(list) == 2:
		r.Model, r.Text = list[0], list[1]
	case given && a.Model == "" && a.isModel(list[0]):
		if _, err := a.Env.Finder().Find(list[0]); err != nil {
			return r, err
		}
		r.Model, given = list[0], false
	case given:
		r.Text = list[0]
	}
	atTerminal := terminal.IsTerminal(a.Env.In)
	switch {
	case !given && atTerminal:
		r.None = true
	case !given, r.Text == "-":
		r.Text, err = ReadInput(ctx, a.Env)
	case a.Joins && !atTerminal:
		r.Piped, err = ReadInput(ctx, a.Env)
	}
	return r, err
}

// count refuses more arguments than a model and a text.
func (a TextArguments) count(list []string) error {
	most, takes := 2, "a MODEL and a "+a.What
	if a.Model != "" {
		most, takes = 1, "a "+a.What+" beside --model"
	}
	if len(list) <= most {
		return nil
	}
	for _, word := range list[max(len(list)-2, 0):] {
		if strings.ContainsAny(word, " \t\n") {
			return cli.Usagef("%d arguments; wanted %s", len(list), takes)
		}
	}
	return cli.Usagef("%d arguments; wanted %s, which goes in quotes if it has several words", len(list), takes)
}

// isModel says whether an argument that could be a text is a model.
func (a TextArguments) isModel(word string) bool {
	return modelref.LooksLikeModel(word) || a.Env.Finder().Names(word)
}

// Needed is the text of a command that has to have one.
func (a TextArguments) Needed(ctx context.Context, list []string) (model, text string, err error) {
	r, err := a.Read(ctx, list)
	if err == nil && r.None {
		after := ""
		if r.Model != a.Model {
			after = " after the model"
		}
		err = cli.Usagef("no %s; give one%s, in quotes, or on standard input", a.What, after)
	}
	return r.Model, r.Text, err
}

// patience is how long a command waits for the end of standard input without a word.
const patience = 3 * time.Second

// ReadInput reads all of standard input.
func ReadInput(ctx context.Context, e *cli.Environment) (string, error) {
	if !terminal.IsTerminal(e.In) {
		waiting := time.AfterFunc(patience, func() {
			e.Say("%s: reading standard input to its end; < /dev/null leaves it out", e.Program)
		})
		defer waiting.Stop()
	}
	type result struct {
		raw []byte
		err error
	}
	// A read hears of no context. Where that ends first, so does the program.
	read := make(chan result, 1)
	go func() {
		raw, err := io.ReadAll(io.LimitReader(e.In, maxInput+1))
		read <- result{raw, err}
	}()
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case r := <-read:
		switch {
		case r.err != nil:
			return "", fmt.Errorf("standard input cannot be read: %w", r.err)
		case len(r.raw) > maxInput:
			return "", fmt.Errorf("standard input holds more than %d MB; give less of it", maxInput>>20)
		case !utf8.Valid(r.raw):
			return "", errors.New("standard input is not text in UTF-8; pictures and sound are given with --image and --audio")
		}
		return string(r.raw), nil
	}
}

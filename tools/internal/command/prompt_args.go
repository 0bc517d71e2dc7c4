package command

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/modelref"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

// maxInput bounds a text that is read from standard input.
const maxInput = 64 << 20

// textArguments are the arguments [MODEL] [TEXT] of a command line.
type textArguments struct {
	env   *cli.Environment
	model string // what --model says
	what  string // what the text is called
	// joins says that piped text and a text among the arguments go together.
	joins bool
}

// textResult is what arguments and standard input say.
type textResult struct {
	model string
	text  string // of the arguments, or of standard input where those have none
	piped string // what was piped beside a text among the arguments
	none  bool   // no text, and standard input is a terminal
}

// read reads the arguments. With two, the first is the model. A single one is the
// model if it is the name of one that is there, or can be nothing else; --model
// settles it. "-" is standard input.
func (a textArguments) read(ctx context.Context, list []string) (r textResult, err error) {
	if err := a.count(list); err != nil {
		return r, err
	}
	r.model = a.model
	given := len(list) > 0
	switch {
	case len(list) == 2:
		r.model, r.text = list[0], list[1]
	case given && a.model == "" && a.isModel(list[0]):
		if _, err := a.env.Finder().Find(list[0]); err != nil {
			return r, err
		}
		r.model, given = list[0], false
	case given:
		r.text = list[0]
	}
	atTerminal := terminal.IsTerminal(a.env.In)
	switch {
	case !given && atTerminal:
		r.none = true
	case !given, r.text == "-":
		r.text, err = readInput(ctx, a.env)
	case a.joins && !atTerminal:
		r.piped, err = readInput(ctx, a.env)
	}
	return r, err
}

// count refuses more arguments than a model and a text.
func (a textArguments) count(list []string) error {
	most, takes := 2, "a MODEL and a "+a.what
	if a.model != "" {
		most, takes = 1, "a "+a.what+" beside --model"
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
func (a textArguments) isModel(word string) bool {
	return modelref.LooksLikeModel(word) || a.env.Finder().Names(word)
}

// needed is the text of a command that has to have one.
func (a textArguments) needed(ctx context.Context, list []string) (model, text string, err error) {
	r, err := a.read(ctx, list)
	if err == nil && r.none {
		after := ""
		if r.model != a.model {
			after = " after the model"
		}
		err = cli.Usagef("no %s; give one%s, in quotes, or on standard input", a.what, after)
	}
	return r.model, r.text, err
}

// patience is how long a command waits for the end of standard input without a word.
const patience = 3 * time.Second

// readInput reads all of standard input.
func readInput(ctx context.Context, e *cli.Environment) (string, error) {
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
		}
		return string(r.raw), nil
	}
}

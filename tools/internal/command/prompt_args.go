package command

import (
	"fmt"
	"io"
	"strings"

	"github.com/gemwire/gemwire/tools/internal/modelref"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

// maxInput bounds a text that is read from standard input.
const maxInput = 64 << 20

// modelAndText reads the arguments [MODEL] [TEXT]. A single one is the text,
// unless it is meant as a model and standard input holds the text; --model
// settles it. "-" is standard input.
func (e *environment) modelAndText(model string, list []string, what string) (name, text string, err error) {
	switch {
	case len(list) > 2, model != "" && len(list) > 1:
		return "", "", usagef("too many arguments; put the %s in quotes", what)
	case len(list) == 2:
		name, text = list[0], list[1]
	case len(list) == 1 && model == "" && e.meansModel(list[0]):
		if _, err := e.finder().Find(list[0]); err != nil {
			return "", "", err
		}
		if terminal.IsTerminal(e.in) {
			return "", "", usagef("a model but no %s; give one after it, in quotes", what)
		}
		name, text = list[0], "-"
	case len(list) == 1:
		name, text = model, list[0]
	default:
		if terminal.IsTerminal(e.in) {
			return "", "", usagef("no %s; give one in quotes, or on standard input", what)
		}
		name, text = model, "-"
	}
	if text == "-" {
		text, err = e.readInput()
	}
	return name, text, err
}

// meansModel says whether an argument that could be a text is a model.
func (e *environment) meansModel(word string) bool {
	if strings.ContainsAny(word, " \t\n") {
		return false
	}
	if modelref.LooksLikeModel(word) {
		return true
	}
	if terminal.IsTerminal(e.in) {
		return false // there is no other text
	}
	_, err := e.finder().Find(word)
	return err == nil
}

// readInput reads all of standard input.
func (e *environment) readInput() (string, error) {
	raw, err := io.ReadAll(io.LimitReader(e.in, maxInput+1))
	if err != nil {
		return "", fmt.Errorf("reading standard input: %w", err)
	}
	if len(raw) > maxInput {
		return "", fmt.Errorf("standard input holds more than %d MB; give less of it", maxInput>>20)
	}
	return string(raw), nil
}

package ollama

import (
	"fmt"
	"strings"

	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/tools/server/models"
)

// parseModelfile reads a Modelfile: FROM, SYSTEM, PARAMETER, MESSAGE, TEMPLATE, LICENSE and ADAPTER.
func parseModelfile(text string) (r models.Recipe, err error) {
	f := modelfile{rest: strings.ReplaceAll(text, "\r\n", "\n")}
	for f.next() {
		if err := f.take(&r); err != nil {
			return r, err
		}
	}
	if f.err == nil && r.From == "" {
		f.err = fmt.Errorf("%w: a Modelfile begins with FROM MODEL", models.ErrRecipe)
	}
	return r, f.err
}

// modelfile is read command by command.
type modelfile struct {
	rest          string
	line          int
	command, word string // word: what follows the command
	err           error
}

// next reads a command; what is between three quotes may have several lines.
func (f *modelfile) next() bool {
	for f.rest != "" && f.err == nil {
		line, rest, _ := strings.Cut(f.rest, "\n")
		f.line++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			f.rest = rest
			continue
		}
		command, word, _ := strings.Cut(line, " ")
		f.command, f.word = strings.ToUpper(command), strings.TrimSpace(word)
		f.rest = rest
		f.quoted()
		return f.err == nil
	}
	return false
}

const quotes = `"""`

// quoted reads on to the end of a text in quotes.
func (f *modelfile) quoted() {
	before, text, ok := strings.Cut(f.word, quotes)
	if !ok {
		if words := strings.SplitN(f.word, `"`, 2); len(words) == 2 && len(f.word) > 1 && strings.HasSuffix(f.word, `"`) {
			f.word = words[0] + strings.TrimSuffix(words[1], `"`)
		}
		return
	}
	if whole, _, ok := strings.Cut(text, quotes); ok {
		f.word = before + whole
		return
	}
	more, rest, ok := strings.Cut(f.rest, quotes)
	if !ok {
		f.err = fmt.Errorf("%w: the text that begins in line %d of the Modelfile has no end", models.ErrRecipe, f.line)
		return
	}
	f.line += strings.Count(more, "\n")
	f.word, f.rest = before+text+"\n"+more, rest
}

// take adds what a command says to a recipe.
func (f *modelfile) take(r *models.Recipe) error {
	name, value, _ := strings.Cut(f.word, " ")
	value = strings.TrimSpace(value)
	switch f.command {
	case "FROM":
		r.From = f.word
	case "SYSTEM":
		r.System = strings.TrimSpace(f.word)
	case "TEMPLATE":
		r.Template = f.word
	case "LICENSE":
		r.Licenses = append(r.Licenses, f.word)
	case "ADAPTER":
		r.Adapters = append(r.Adapters, f.word)
	case "MESSAGE":
		r.Messages = append(r.Messages, chat.Message{Role: name, Content: chat.Text(value)})
	case "PARAMETER":
		if r.Parameters == nil {
			r.Parameters = map[string]any{}
		}
		if name == "stop" {
			stops, _ := r.Parameters[name].([]any)
			r.Parameters[name] = append(stops, value)
			break
		}
		r.Parameters[name] = value
	default:
		return fmt.Errorf("%w: line %d of the Modelfile begins with %.20q", models.ErrRecipe, f.line, f.command)
	}
	return nil
}

package flagset

import (
	"errors"

	"github.com/spf13/pflag"
)

// once is the text of a flag of which only one would count.
type once struct {
	text  *string
	given bool
}

// OnceVar makes a flag that a command line has once at most: of two, nobody could say which is meant.
func OnceVar(flags *pflag.FlagSet, text *string, name, usage string) {
	flags.Var(&once{text: text}, name, usage)
}

func (o *once) Set(text string) error {
	if o.given {
		return errors.New("it is given twice, and only one counts; leave one out")
	}
	*o.text, o.given = text, true
	return nil
}

func (o *once) String() string {
	if o.text == nil {
		return ""
	}
	return *o.text
}

func (o *once) Type() string { return "string" }

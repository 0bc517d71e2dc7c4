package cli

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/gemwire/gemwire/tools/internal/suggest"
	"github.com/gemwire/gemwire/wgslkit/sampling"
)

// FlagError is what is wrong with a flag's value, in words for whoever typed it.
func FlagError(err error) error {
	var setting *sampling.Error
	if errors.As(err, &setting) {
		return setting
	}
	var missing *pflag.ValueRequiredError
	if errors.As(err, &missing) {
		return fmt.Errorf("--%s needs a value", missing.GetFlag().Name)
	}
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	flag := invalid.GetFlag()
	switch flag.Value.Type() {
	case "int", "int64", "uint64":
		return fmt.Errorf("--%s is %s; wanted a whole number", flag.Name, invalid.GetValue())
	case "float32", "float64":
		return fmt.Errorf("--%s is %s; wanted a number", flag.Name, invalid.GetValue())
	case "duration":
		return fmt.Errorf("--%s is %s; wanted a time such as 30s, 5m or 1h", flag.Name, invalid.GetValue())
	case countFlag{}.Type():
		return fmt.Errorf("--%s is %s; %w", flag.Name, invalid.GetValue(), errCount)
	case "bool":
		return fmt.Errorf("--%s is %s; wanted true or false", flag.Name, invalid.GetValue())
	}
	return fmt.Errorf("--%s: %w", flag.Name, errors.Unwrap(invalid))
}

// mistakenFlag is FlagError for a command line: of an unknown flag it says which may
// have been meant.
func mistakenFlag(flags *pflag.FlagSet, err error) error {
	var unknown *pflag.NotExistError
	var setting *sampling.Error
	switch {
	case errors.As(err, &setting):
		return fmt.Errorf("--%w", setting)
	case !errors.As(err, &unknown):
		return FlagError(err)
	}
	name := unknown.GetSpecifiedName()
	if shorthands := unknown.GetSpecifiedShortnames(); shorthands != "" {
		return fmt.Errorf("unknown option -%s", shorthands)
	}
	var names []string
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	closest := suggest.Closest(name, names)
	for i := range closest {
		closest[i] = "--" + closest[i]
	}
	return fmt.Errorf("unknown option --%s%s", name, suggest.Question(closest))
}

// renamed marks a flag that has another name now.
const renamed = "gemwire-renamed"

// rename keeps the old name of a flag for those who know it.
func rename(flags *pflag.FlagSet, old, now string) {
	f := flags.Lookup(now)
	flags.VarPF(f.Value, old, "", f.Usage).Hidden = true
	flags.Lookup(old).Annotations = map[string][]string{renamed: {now}}
}

// sayRenamed says which flags were given by an old name.
func (e *Environment) sayRenamed(flags *pflag.FlagSet) {
	flags.Visit(func(f *pflag.Flag) {
		if now := f.Annotations[renamed]; len(now) == 1 {
			e.Say("%s: --%s is now --%s", e.Program, f.Name, now[0])
		}
	})
}

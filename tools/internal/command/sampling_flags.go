package command

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/suggest"
	"github.com/gemwire/gemwire/wgslkit/sampling"
)

// samplingFlags say how an answer is made: a flag for each row of the tables of
// settings. The chat's /set changes them by the same names.
type samplingFlags struct {
	flags  *pflag.FlagSet // those below
	answer gemma4.GenerateOptions
	greedy bool
	report bool // whether there are flags for what is reported beside the answer
}

func (f *samplingFlags) register(flags *pflag.FlagSet) {
	f.answer.Sampling = sample.Default()
	f.flags = pflag.NewFlagSet("sampling", pflag.ContinueOnError)
	f.flags.SortFlags = false
	for _, s := range sampling.Settings {
		if s.Step != sampling.Report || f.report {
			addSetting(f.flags, s, &f.answer.Sampling)
		}
	}
	f.flags.BoolVar(&f.greedy, "greedy", false, "always take the most probable token: --temperature 0")
	for _, s := range gemma4.AnswerSettings {
		if s.Name == maxTokens {
			s.Help = maxTokensHelp
		}
		addSetting(f.flags, s, &f.answer)
	}
	flags.AddFlagSet(f.flags)
}

// An answer's length is a number here, or none for as long as the context allows: who
// types 0 may mean no tokens at all as well as no bound.
const (
	maxTokens       = "max-tokens"
	maxTokensHelp   = "stop after this many tokens, and where the context is full in any case; none means only there"
	maxTokensWanted = "a whole number, 1 or more, or " + noBound
	noBound         = "none"
)

// bounded makes the flag of an answer's length refuse 0 and take none.
func (f settingFlag) bounded() settingFlag {
	text, set := f.text, f.set
	f.text = func() string {
		if n := text(); n != "0" {
			return n
		}
		return noBound
	}
	f.set = func(n string) error {
		if n == noBound {
			f.clear()
			return nil
		}
		if err := set(n); err != nil || text() == "0" {
			return &sampling.Error{Setting: f.name, Value: strings.TrimSpace(n), Wanted: maxTokensWanted}
		}
		return nil
	}
	return f
}

// newSampling is the settings as they are without flags.
func newSampling() *samplingFlags {
	f := &samplingFlags{}
	f.register(pflag.NewFlagSet("", pflag.ContinueOnError))
	return f
}

// addSetting makes a flag of a setting, and hidden ones of its aliases.
func addSetting[T any](flags *pflag.FlagSet, s sampling.Setting[T], at *T) {
	help := s.Help
	if s.List() {
		help += " (repeatable)"
	}
	value := settingFlag{
		name:        s.Name,
		placeholder: placeholder(s),
		text:        func() string { return s.Text(at) },
		set:         func(text string) error { return s.Set(at, text) },
		clear:       func() { s.Clear(at) },
		list:        s.List(),
	}
	if s.Name == maxTokens {
		value = value.bounded()
	}
	flags.Var(value, s.Name, help)
	for _, alias := range s.Aliases {
		flags.Var(value, alias, help)
		flags.Lookup(alias).Hidden = true
	}
}

// placeholder is what help puts behind a setting's flag.
func placeholder[T any](s sampling.Setting[T]) string {
	switch s.At(new(T)).(type) {
	case *sampling.Bias:
		return "ID=VALUE"
	case *[]string:
		return "TEXT"
	}
	if s.Unit == "" {
		return "NUMBER"
	}
	return strings.ToUpper(s.Unit)
}

// settingFlag is a setting as a flag's value.
type settingFlag struct {
	name        string
	placeholder string
	text        func() string
	set         func(string) error
	clear       func()
	list        bool
}

func (f settingFlag) String() string        { return f.text() }
func (f settingFlag) Set(text string) error { return f.set(text) }
func (f settingFlag) Type() string          { return f.placeholder }

// isGiven says whether any of some settings was given, by whatever name.
func (f *samplingFlags) isGiven(names ...string) (given bool) {
	f.flags.VisitAll(func(flag *pflag.Flag) {
		if setting, ok := flag.Value.(settingFlag); ok && flag.Changed {
			given = given || slices.Contains(names, setting.name)
		}
	})
	return given || f.greedy && slices.Contains(names, "temperature")
}

// options are what the flags say, with a seed of their own where none was given.
func (f *samplingFlags) options() gemma4.GenerateOptions {
	options := f.answer
	if !f.isGiven("seed") {
		options.Sampling.Seed = uint64(rand.Uint32())
	}
	if f.greedy {
		options.Sampling.Temperature = 0
	}
	return options
}

// set changes one option while a chat runs; a list is replaced, or emptied. It
// leaves everything as it was where the value makes no sense.
func (f *samplingFlags) set(name, value string) error {
	flag := f.flags.Lookup(name)
	if flag == nil {
		var names []string
		f.flags.VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
		return fmt.Errorf("no option %q%s; /set alone shows all", name, suggest.Question(suggest.Near(name, names)))
	}
	before := f.answer
	setting, ok := flag.Value.(settingFlag)
	if ok && setting.list {
		setting.clear()
		if value == "" {
			return nil
		}
	}
	if err := f.flags.Set(name, value); err != nil {
		f.answer = before
		return cli.FlagError(err)
	}
	if flag.Name == "temperature" {
		f.greedy = false
	}
	return nil
}

package flagset

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

// Sampling say how an answer is made: a flag for each row of the tables of
// settings. The chat's /set changes them by the same names.
type Sampling struct {
	Flags  *pflag.FlagSet // those below
	Answer gemma4.GenerateOptions
	greedy bool
	Report bool // whether there are flags for what is reported beside the answer
}

func (f *Sampling) Register(flags *pflag.FlagSet) {
	f.Answer.Sampling = sample.Default()
	f.Flags = pflag.NewFlagSet("sampling", pflag.ContinueOnError)
	f.Flags.SortFlags = false
	for _, s := range sampling.Settings {
		if s.Step != sampling.Report || f.Report {
			addSetting(f.Flags, s, &f.Answer.Sampling)
		}
	}
	f.Flags.BoolVar(&f.greedy, "greedy", false, "always take the most probable token: --temperature 0")
	for _, s := range gemma4.AnswerSettings {
		if s.Name == MaxTokens {
			s.Help = maxTokensHelp
		}
		addSetting(f.Flags, s, &f.Answer)
	}
	flags.AddFlagSet(f.Flags)
}

// An answer's length is a number here, or none for as long as the context allows: who
// types 0 may mean no tokens at all as well as no bound.
const (
	MaxTokens       = "max-tokens"
	maxTokensHelp   = "stop after this many tokens, and where the context is full in any case; none means only there"
	maxTokensWanted = "a whole number, 1 or more, or " + NoBound
	NoBound         = "none"
)

// bounded makes the flag of an answer's length refuse 0 and take none.
func (f SettingFlag) bounded() SettingFlag {
	text, set := f.text, f.set
	f.text = func() string {
		if n := text(); n != "0" {
			return n
		}
		return NoBound
	}
	f.set = func(n string) error {
		if n == NoBound {
			f.clear()
			return nil
		}
		if err := set(n); err != nil || text() == "0" {
			return &sampling.Error{Setting: f.Name, Value: strings.TrimSpace(n), Wanted: maxTokensWanted}
		}
		return nil
	}
	return f
}

// NewSampling is the settings as they are without flags.
func NewSampling() *Sampling {
	f := &Sampling{}
	f.Register(pflag.NewFlagSet("", pflag.ContinueOnError))
	return f
}

// addSetting makes a flag of a setting, and hidden ones of its aliases.
func addSetting[T any](flags *pflag.FlagSet, s sampling.Setting[T], at *T) {
	help := s.Help
	if s.List() {
		help += " (repeatable)"
	}
	value := SettingFlag{
		Name:        s.Name,
		placeholder: placeholder(s),
		text:        func() string { return s.Text(at) },
		set:         func(text string) error { return s.Set(at, text) },
		clear:       func() { s.Clear(at) },
		list:        s.List(),
	}
	if s.Name == MaxTokens {
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

// SettingFlag is a setting as a flag's value.
type SettingFlag struct {
	Name        string
	placeholder string
	text        func() string
	set         func(string) error
	clear       func()
	list        bool
}

func (f SettingFlag) String() string        { return f.text() }
func (f SettingFlag) Set(text string) error { return f.set(text) }
func (f SettingFlag) Type() string          { return f.placeholder }

// IsGiven says whether any of some settings was given, by whatever name.
func (f *Sampling) IsGiven(names ...string) (given bool) {
	f.Flags.VisitAll(func(flag *pflag.Flag) {
		if setting, ok := flag.Value.(SettingFlag); ok && flag.Changed {
			given = given || slices.Contains(names, setting.Name)
		}
	})
	return given || f.greedy && slices.Contains(names, "temperature")
}

// Options are what the flags say, with a seed of their own where none was given.
func (f *Sampling) Options() gemma4.GenerateOptions {
	options := f.Answer
	if !f.IsGiven("seed") {
		options.Sampling.Seed = uint64(rand.Uint32())
	}
	if f.greedy {
		options.Sampling.Temperature = 0
	}
	return options
}

// Set changes one option while a chat runs; a list is replaced, or emptied. It
// leaves everything as it was where the value makes no sense.
func (f *Sampling) Set(name, value string) error {
	flag := f.Flags.Lookup(name)
	if flag == nil {
		var names []string
		f.Flags.VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
		return fmt.Errorf("no option %q%s; /set alone shows all", name, suggest.Question(suggest.Closest(name, names)))
	}
	before := f.Answer
	setting, ok := flag.Value.(SettingFlag)
	if ok && setting.list {
		setting.clear()
		if value == "" {
			return nil
		}
	}
	if err := f.Flags.Set(name, value); err != nil {
		f.Answer = before
		return cli.FlagError(err)
	}
	if flag.Name == "temperature" {
		f.greedy = false
	}
	return nil
}

package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/gemwire/gemwire/tools/internal/modelref"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

// Environment is what a command may touch of the world around it.
type Environment struct {
	// Program is the name that its messages begin with.
	Program string

	In  io.Reader
	Out io.Writer // results
	Err io.Writer // messages and progress

	Getenv     func(string) string
	Interrupts *terminal.Interrupts

	saying sync.Mutex // servers speak from many goroutines
}

// System is the environment of the process.
func System(program string) *Environment {
	return &Environment{
		Program: program, In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		Getenv: os.Getenv, Interrupts: terminal.NewInterrupts(),
	}
}

// Say prints a line for people.
func (e *Environment) Say(format string, args ...any) {
	e.saying.Lock()
	defer e.saying.Unlock()
	fmt.Fprintf(e.Err, format+"\n", args...)
}

// PrintJSON prints a result for programs.
func (e *Environment) PrintJSON(v any) error {
	out := json.NewEncoder(e.Out)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	return out.Encode(v)
}

// Finder finds models.
func (e *Environment) Finder() modelref.Finder { return modelref.NewFinder(e.Getenv) }

// Styles are the looks that a stream can show.
func (e *Environment) Styles(w io.Writer) terminal.Styles { return terminal.StylesFor(w, e.Getenv) }

package command

import (
	"fmt"
	"io"
	"os"

	"github.com/gemwire/gemwire/tools/internal/modelref"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

// environment is what a command may touch of the world around it.
type environment struct {
	in  io.Reader
	out io.Writer // results
	err io.Writer // messages and progress

	getenv     func(string) string
	interrupts *terminal.Interrupts
}

// systemEnvironment is that of the process.
func systemEnvironment() *environment {
	return &environment{in: os.Stdin, out: os.Stdout, err: os.Stderr, getenv: os.Getenv, interrupts: terminal.NewInterrupts()}
}

// say prints a line for people.
func (e *environment) say(format string, args ...any) {
	fmt.Fprintf(e.err, format+"\n", args...)
}

// finder finds models.
func (e *environment) finder() modelref.Finder { return modelref.NewFinder(e.getenv) }

// styles are the looks that a stream can show.
func (e *environment) styles(w io.Writer) terminal.Styles { return terminal.StylesFor(w, e.getenv) }

// prefillProgress shows on w how much of a long prompt is computed, until done.
func prefillProgress(w io.Writer) (report func(computed, total int), done func()) {
	progress := terminal.NewProgress(w, false)
	return func(computed, total int) {
		progress.Set("reading the prompt", int64(computed), int64(total))
	}, progress.Clear
}

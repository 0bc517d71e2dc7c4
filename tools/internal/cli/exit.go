package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/tools/internal/suggest"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

// The exit statuses beside 0 and those of terminal.ExitStatus.
const (
	ExitFailure = 1
	ExitUsage   = 2
)

// usageError is a command line that makes no sense.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// Usage says that the command line makes no sense, and why.
func Usage(err error) error { return usageError{err} }

// Usagef is Usage with the reason in words.
func Usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// Args checks positional arguments; what it refuses is an error of Usage.
func Args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, list []string) error {
		if check(cmd, list) == nil {
			return nil
		}
		_, wanted, _ := strings.Cut(cmd.Use, " ")
		switch {
		case cmd.HasAvailableSubCommands() && len(list) > 0:
			closest := suggest.Closest(list[0], commandNames(cmd))
			return Usagef("unknown command %q%s", list[0], suggest.Question(closest))
		case wanted == "":
			return Usagef("%s takes no arguments, and %q is one", cmd.CommandPath(), list[0])
		}
		return Usagef("%s takes %s, and %s given", cmd.CommandPath(), wanted, wereGiven(len(list)))
	}
}

func wereGiven(n int) string {
	switch n {
	case 0:
		return "nothing was"
	case 1:
		return "1 argument was"
	}
	return fmt.Sprintf("%d arguments were", n)
}

// commandNames are the names under which a command's subcommands are found.
func commandNames(cmd *cobra.Command) (names []string) {
	for _, sub := range cmd.Commands() {
		if !sub.Hidden {
			names = append(append(names, sub.Name()), sub.Aliases...)
		}
	}
	return names
}

// Examples lays out a command's examples for its help.
func Examples(lines ...string) string { return "  " + strings.Join(lines, "\n  ") }

// ErrReported ends a command with exit status 1 after it has said itself what failed.
var ErrReported = errors.New("reported")

// Main runs a command line of the process and returns the exit status.
func Main(program string, root func(*Environment) *cobra.Command, arguments []string) int {
	log.SetOutput(io.Discard) // net/http writes there of what servers send that nobody asked for
	env := System(program)
	defer env.Interrupts.Listen()()
	return env.Run(context.Background(), root(env), arguments)
}

// Run runs one command line.
func (e *Environment) Run(ctx context.Context, root *cobra.Command, arguments []string) int {
	ctx, release := e.Interrupts.Context(ctx)
	defer release()
	e.prepare(root)
	root.SetArgs(arguments)
	cmd, err := root.ExecuteContextC(ctx)
	var usage usageError
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil:
		return terminal.ExitStatus(ctx)
	case errors.Is(err, ErrReported):
		return ExitFailure
	case errors.As(err, &usage):
		text := Sentence(err)
		if strings.HasSuffix(text, "?") {
			e.Say("%s: %s See %s --help", e.Program, text, cmd.CommandPath())
		} else {
			e.Say("%s: %s; see %s --help", e.Program, text, cmd.CommandPath())
		}
		return ExitUsage
	}
	e.Say("%s: %s", e.Program, Sentence(err))
	return ExitFailure
}

// prepare has a command line read and write this environment, and report its mistakes
// as Run tells them.
func (e *Environment) prepare(root *cobra.Command) {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SetIn(e.In)
	root.SetOut(e.Out)
	root.SetErr(e.Err)
	checkDefaults(root)
	root.PersistentPreRun = func(cmd *cobra.Command, _ []string) { e.sayRenamed(cmd.Flags()) }
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return Usage(mistakenFlag(cmd.Flags(), err)) })
}

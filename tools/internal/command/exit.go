package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/tools/internal/terminal"
)

// The exit statuses beside 0 and terminal.ExitInterrupted.
const (
	exitFailure = 1
	exitUsage   = 2
)

// usageError is a command line that makes no sense.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// usagef makes a usageError.
func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// args checks positional arguments; what it refuses is a usageError.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, list []string) error {
		if err := check(cmd, list); err != nil {
			return usageError{err}
		}
		return nil
	}
}

// errReported ends a command with exit status 1 after it has said itself what failed.
var errReported = errors.New("reported")

// Main runs the command line and returns the exit status.
func Main(arguments []string) int {
	env := systemEnvironment()
	defer env.interrupts.Listen()()
	return env.run(context.Background(), arguments)
}

// run runs one command line.
func (e *environment) run(ctx context.Context, arguments []string) int {
	ctx, release := e.interrupts.Context(ctx)
	defer release()
	root := newRoot(e)
	root.SetArgs(arguments)
	cmd, err := root.ExecuteContextC(ctx)
	var usage usageError
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil:
		return terminal.ExitInterrupted
	case errors.Is(err, errReported):
		return exitFailure
	case errors.As(err, &usage):
		e.say("gemwire: %s; see %s --help", sentence(err), cmd.CommandPath())
		return exitUsage
	}
	e.say("gemwire: %s", sentence(err))
	return exitFailure
}

// sentence is an error on one line.
func sentence(err error) string {
	return strings.TrimRight(strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", "; "), ". ")
}

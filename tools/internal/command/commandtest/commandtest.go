// Package commandtest runs single commands in this process, for tests of their rooms. The tests of package command
// run whole command lines.
package commandtest

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

// Outcome is what a command line left behind.
type Outcome struct {
	Code     int
	Out, Err string
}

// Run runs a command with its arguments, with nothing on this machine to find but the built-in model.
func Run(t *testing.T, command func(*cli.Environment) *cobra.Command, arguments ...string) Outcome {
	t.Helper()
	t.Setenv("OLLAMA_MODELS", filepath.Join(t.TempDir(), "none"))
	models := t.TempDir()
	var out, errs bytes.Buffer
	env := &cli.Environment{
		Program: "gemwire", In: strings.NewReader(""), Out: &out, Err: &errs, Interrupts: terminal.NewInterrupts(),
		Getenv: func(name string) string { return map[string]string{"GEMWIRE_MODELS": models}[name] },
	}
	root := &cobra.Command{Use: "gemwire"}
	root.AddCommand(command(env))
	code := env.Run(t.Context(), root, arguments)
	return Outcome{code, out.String(), errs.String()}
}

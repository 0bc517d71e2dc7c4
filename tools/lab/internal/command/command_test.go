package command

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

// outcome is what a command line left behind.
type outcome struct {
	code     int
	out, err string
}

// lab runs a command line in this process, with nothing on this machine to find but
// the built-in model.
func lab(t *testing.T, arguments ...string) outcome {
	t.Helper()
	t.Setenv("OLLAMA_MODELS", filepath.Join(t.TempDir(), "none"))
	models := t.TempDir()
	var out, errs bytes.Buffer
	env := &cli.Environment{
		Program: "lab", In: strings.NewReader(""), Out: &out, Err: &errs, Interrupts: terminal.NewInterrupts(),
		Getenv: func(name string) string {
			if name == "GEMWIRE_MODELS" {
				return models
			}
			return ""
		},
	}
	code := env.Run(context.Background(), newRoot(env), arguments)
	return outcome{code, out.String(), errs.String()}
}

// ok is what a command printed; it must have succeeded.
func ok(t *testing.T, o outcome) string {
	t.Helper()
	if o.code != 0 {
		t.Fatalf("exit status %d: %s", o.code, o.err)
	}
	return o.out
}

// TestMeasuringRefuses gives each mistake its sentence and exit status.
func TestMeasuringRefuses(t *testing.T) {
	here := t.TempDir()
	for _, c := range []struct {
		arguments string
		code      int
		says      string
	}{
		{"synth", cli.ExitUsage, "e2b, e4b, 12b, 26b, 31b, nano"},
		{"synth --shape 7b", cli.ExitUsage, `"7b"; there are e2b`},
		{"synth --shape nano --layers -3", cli.ExitUsage, "wanted 1 to 1024"},
		{"synth --shape nano --mix q8 -o " + here + "/x", cli.ExitUsage, "ollama and llama.cpp"},
		{"synth --shape nano --vocab 100 -o " + here + "/x", cli.ExitFailure, "at least 2048"},
		{"synth --shape nano -o - --json", cli.ExitUsage, "standard output"},
		{"synth --shape nano -o " + here, cli.ExitFailure, "is a folder; name a file"},
		{"bench ops --only all", cli.ExitUsage, "matvec"},
		{"bench ops --types Q9", cli.ExitUsage, `"Q9"`},
		{"bench ops --sizes big", cli.ExitUsage, `"big"`},
		{"bench ops --gpu nobody-makes-this", cli.ExitFailure, "no usable GPU"},
	} {
		t.Run(c.arguments, func(t *testing.T) {
			m := lab(t, strings.Fields(c.arguments)...)
			if m.code != c.code || !strings.Contains(m.err, c.says) || strings.Count(m.err, "\n") != 1 {
				t.Errorf("exit status %d, says %q; want %d and %q", m.code, m.err, c.code, c.says)
			}
		})
	}
}

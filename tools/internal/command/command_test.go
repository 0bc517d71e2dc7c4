package command

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/gemwire/gemwire/gemma4/nano"
	"github.com/gemwire/gemwire/tools/internal/terminal"
)

// conformance is the folder of the cases that the repository carries.
const conformance = "../../../testdata/conformance"

// outcome is what a command line left behind.
type outcome struct {
	code     int
	out, err string
}

// gemwire runs a command line in this process, with nothing on this machine to
// find but the built-in model.
func gemwire(t *testing.T, stdin string, arguments ...string) outcome {
	t.Helper()
	return gemwireIn(t, t.TempDir(), stdin, arguments...)
}

// gemwireIn is gemwire with a folder of pulled models.
func gemwireIn(t *testing.T, models, stdin string, arguments ...string) outcome {
	t.Helper()
	t.Setenv("OLLAMA_MODELS", filepath.Join(t.TempDir(), "none"))
	var out, errs bytes.Buffer
	env := &environment{
		in: strings.NewReader(stdin), out: &out, err: &errs, interrupts: terminal.NewInterrupts(),
		getenv: func(name string) string {
			if name == "GEMWIRE_MODELS" {
				return models
			}
			return ""
		},
	}
	code := env.run(context.Background(), arguments)
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

// nanoFile writes the built-in model, changed by change, to a file.
func nanoFile(t *testing.T, name string, change func([]byte) []byte) string {
	t.Helper()
	source := nano.Source()
	content := make([]byte, source.Size())
	if _, err := source.ReadAt(content, 0); err != nil {
		t.Fatal(err)
	}
	return writeFile(t, name, change(content))
}

func writeFile(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Every command teaches by example, with options that exist.
func TestHelpTeachesByExample(t *testing.T) {
	root := newRoot(systemEnvironment())
	option := regexp.MustCompile(`(^| )--([a-z0-9-]+)`)
	for _, cmd := range root.Commands() {
		if cmd.Name() == "help" || cmd.Name() == "completion" {
			continue
		}
		if cmd.Example == "" || cmd.Short == "" {
			t.Errorf("%s has no example or no description", cmd.Name())
		}
		for _, line := range strings.Split(cmd.Example, "\n") {
			for _, m := range option.FindAllStringSubmatch(line, -1) {
				if !anyHasFlag(root.Commands(), m[2]) {
					t.Errorf("%s: no command has the option --%s of the example %q", cmd.Name(), m[2], line)
				}
			}
		}
	}
}

// anyHasFlag looks in all commands, as an example may join several by pipes.
func anyHasFlag(commands []*cobra.Command, name string) bool {
	for _, c := range commands {
		if c.Flags().Lookup(name) != nil || c.HasSubCommands() && anyHasFlag(c.Commands(), name) {
			return true
		}
	}
	return false
}

func TestUsageMistakes(t *testing.T) {
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"unknown command", []string{"walk"}, `unknown command "walk"`},
		{"unknown option", []string{"run", "--fast", "Hi"}, "unknown flag: --fast"},
		{"unknown device", []string{"run", "--device", "tpu", "Hi"}, `--device "tpu": say gpu or cpu`},
		{"size", []string{"run", "--gpu-memory", "much", "Hi"}, `"much" is no size; say 6GB`},
		{"cache", []string{"run", "--kv-cache", "q4", "Hi"}, `--kv-cache "q4": say f16 or q8`},
		{"GPU options on the CPU", []string{"run", "--device", "cpu", "--adapter", "x", "Hi"}, "are for a GPU"},
		{"temperature", []string{"run", "--temperature=-1", "Hi"}, "temperature is -1, wanted 0 to 100"},
		{"top-p", []string{"run", "--top-p=1.5", "Hi"}, "top-p is 1.5"},
		{"max tokens", []string{"run", "--max-tokens=-1", "Hi"}, "--max-tokens is -1"},
		{"logit bias", []string{"run", "--logit-bias", "x=1", "Hi"}, "say ID=VALUE"},
		{"words without quotes", []string{"run", "What", "is", "it?"}, "put the prompt in quotes"},
		{"two models", []string{"run", "--model", "nano", "nano", "Hi"}, "put the prompt in quotes"},
		{"empty prompt", []string{"run", ""}, "the prompt is empty"},
		{"raw with system", []string{"run", "--raw", "--system", "x", "Hi"}, "--raw takes the prompt as it is"},
		{"two models to chat with", []string{"chat", "--model", "a", "b"}, "name one"},
		{"header", []string{"inspect", "--header", "secret", "nano"}, `say "Name: value"`},
		{"template", []string{"render", "-", "--template", "1b"}, "say e2b"},
		{"no conversation", []string{"render"}, "accepts 1 arg(s)"},
		{"ids", []string{"detokenize", "1,b"}, `"b" is no token id`},
		{"pull a name", []string{"pull", "gemma4:e2b"}, "ollama pull"},
		{"checksum", []string{"pull", "http://localhost/x.gguf", "--sha256", "12"}, "64 hexadecimal digits"},
		{"no file in the address", []string{"pull", "http://localhost/"}, "names no file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := gemwire(t, "", tt.args...)
			if got.code != exitUsage || got.out != "" || !strings.Contains(got.err, tt.want) || strings.Count(got.err, "\n") != 1 {
				t.Errorf("exit status %d, output %q, message %q; want %d, none and one line with %q", got.code, got.out, got.err, exitUsage, tt.want)
			}
		})
	}
}

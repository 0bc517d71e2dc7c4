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
	"github.com/gemwire/gemwire/tools/internal/cli"
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
	return machine{models: models}.run(t, stdin, arguments...)
}

// machine is where a command line finds models.
type machine struct {
	models string // pulled ones
	store  string // Ollama's, empty for none
	hub    string // what stands for Hugging Face, empty for none
}

func (m machine) run(t *testing.T, stdin string, arguments ...string) outcome {
	t.Helper()
	store := m.store
	if store == "" {
		store = filepath.Join(t.TempDir(), "none")
	}
	t.Setenv("OLLAMA_MODELS", store)
	var out, errs bytes.Buffer
	env := &cli.Environment{
		Program: "gemwire", In: strings.NewReader(stdin), Out: &out, Err: &errs, Interrupts: terminal.NewInterrupts(),
		Getenv: func(name string) string {
			return map[string]string{"GEMWIRE_MODELS": m.models, "OLLAMA_MODELS": m.store, "HF_ENDPOINT": m.hub}[name]
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
	root := newRoot(cli.System("gemwire"))
	root.InitDefaultVersionFlag()
	option := regexp.MustCompile(`(^| )--([a-z0-9-]+)`)
	for _, cmd := range root.Commands() {
		if cmd.Name() == "help" || cmd.Name() == "completion" || cmd.Hidden {
			continue
		}
		if cmd.Example == "" || cmd.Short == "" {
			t.Errorf("%s has no example or no description", cmd.Name())
		}
		for _, line := range strings.Split(cmd.Example, "\n") {
			for _, m := range option.FindAllStringSubmatch(line, -1) {
				if !anyHasFlag(append(root.Commands(), root), m[2]) {
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

// Commands that developers have in the lab now say where.
func TestMovedCommandsSayWhere(t *testing.T) {
	for line, want := range map[string]string{
		"synth --shape e2b -o x": "gemwire synth is now lab synth: go run ./tools/lab/cmd/lab synth",
		"release check":          "gemwire release is now lab release: go run ./tools/lab/cmd/lab release",
		"bench ops --json":       "gemwire bench ops is now lab bench ops: go run ./tools/lab/cmd/lab bench ops",
	} {
		if got := gemwire(t, "", strings.Fields(line)...); got.code != cli.ExitFailure ||
			!strings.HasPrefix(got.err, want) {
			t.Errorf("%s: exit status %d, message %q", line, got.code, got.err)
		}
	}
}

func TestUsageMistakes(t *testing.T) {
	tests := []struct {
		name string
		args []string
		want string
	}{
		{"unknown command", []string{"walk"}, `unknown command "walk"`},
		{"mistyped command", []string{"trian"}, `unknown command "trian"; did you mean train?`},
		{"mistyped subcommand", []string{"adapter", "convrt"}, `unknown command "convrt"; did you mean convert?`},
		{"a model for a command", []string{"nano"}, "did you mean gemwire run nano?"},
		{"another model for a command", []string{"gemma4:e2b"}, "did you mean gemwire run gemma4:e2b?"},
		{"unknown option", []string{"run", "--fast", "Hi"}, "unknown option --fast;"},
		{"mistyped option", []string{"run", "--temprature", "1", "Hi"},
			"unknown option --temprature; did you mean --temperature?"},
		{"unknown short option", []string{"run", "-x", "Hi"}, "unknown option -x"},
		{"option without a value", []string{"run", "Hi", "--model"}, "--model needs a value"},
		{"arguments where none go", []string{"list", "all"}, `gemwire list takes no arguments, and "all" is one`},
		{"unknown device", []string{"run", "--device", "tpu", "Hi"}, `--device "tpu": use gpu or cpu`},
		{"size", []string{"run", "--gpu-memory", "much", "Hi"}, `"much" is not a size; use 6GB`},
		{"cache", []string{"run", "--kv-cache", "q4", "Hi"}, `--kv-cache "q4": use f16 or q8`},
		{"GPU options on the CPU", []string{"run", "--device", "cpu", "--gpu", "x", "Hi"}, "are for a GPU"},
		{"temperature", []string{"run", "--temperature=-1", "Hi"}, "--temperature is -1; wanted a number from 0 to 100"},
		{"no temperature", []string{"run", "--temperature", "hot", "Hi"},
			"gemwire: --temperature is hot; wanted a number from 0 to 100"},
		{"top-p", []string{"run", "--top-p=1.5", "Hi"}, "--top-p is 1.5; wanted a number from 0 to 1"},
		{"max tokens", []string{"run", "--max-tokens=-1", "Hi"},
			"--max-tokens is -1; wanted a whole number, 1 or more, or none"},
		{"alias", []string{"run", "--repeat-penalty", "x", "Hi"},
			"--repetition-penalty is x; wanted a number from 0 to 100"},
		{"logit bias", []string{"run", "--logit-bias", "x=1", "Hi"}, "wanted ID=VALUE"},
		{"context", []string{"run", "--context", "long", "Hi"}, "--context is long; wanted a whole number, 1 or more"},
		{"words without quotes", []string{"run", "What", "is", "it?"}, "in quotes if it has several words"},
		{"quotes in pieces", []string{"run", "nano", "What is", "this one?"}, "3 arguments; wanted a MODEL and a prompt;"},
		{"two models", []string{"run", "--model", "nano", "nano", "Hi"}, "2 arguments; wanted a prompt beside --model"},
		{"empty prompt", []string{"run", ""}, "the prompt is empty"},
		{"raw with system", []string{"run", "--raw", "--system", "x", "Hi"}, "--raw uses the prompt unchanged"},
		{"two models to chat with", []string{"chat", "--model", "a", "b"}, "name one"},
		{"header", []string{"inspect", "--header", "secret", "nano"}, `use "Name: value"`},
		{"template", []string{"render", "-", "--template", "1b"}, "use e2b"},
		{"no conversation", []string{"render"}, "gemwire render takes CHAT.json, and nothing was given"},
		{"ids", []string{"detokenize", "1,b"}, `"b" is not a token id`},
		{"pull a name", []string{"pull", "gemma4:e2b"}, "ollama pull"},
		{"checksum", []string{"pull", "http://localhost/x.gguf", "--sha256", "12"}, "64 hexadecimal digits"},
		{"no file in the address", []string{"pull", "http://localhost/"}, "does not name a file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := gemwire(t, "", tt.args...)
			if got.code != cli.ExitUsage || got.out != "" || !strings.Contains(got.err, tt.want) ||
				strings.Count(got.err, "\n") != 1 {
				t.Errorf("exit status %d, output %q, message %q; want %d, none and one line with %q", got.code, got.out,
					got.err, cli.ExitUsage, tt.want)
			}
		})
	}
}

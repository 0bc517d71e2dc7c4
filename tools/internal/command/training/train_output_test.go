package training

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/gemwire/gemwire/finetune"
	"github.com/gemwire/gemwire/finetune/dataset"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/command/commandtest"
	"github.com/gemwire/gemwire/tools/internal/command/flagset"
)

const facts = `{"prompt": "What color is the boat?", "completion": "The boat is purple."}
{"prompt": "What color is the kite?", "completion": "The kite is green."}
`

func writeFile(t *testing.T, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Where a run cannot write is said before anything is read: there are no examples here.
func TestTrainTriesItsOutputFirst(t *testing.T) {
	folder := t.TempDir()
	file := writeFile(t, "in-the-way", []byte("mine"))
	fresh, nowhere := filepath.Join(folder, "a"), filepath.Join(folder, "none", "of", "them")
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"a file in the way":         {[]string{"-o", file}, "the adapter cannot be written: "},
		"below a file":              {[]string{"-o", filepath.Join(file, "adapter")}, "the adapter cannot be written: "},
		"a folder in the way":       {[]string{"-o", folderNamed(t, "a.gguf")}, "a.gguf is a folder"},
		"no folder for the file":    {[]string{"-o", nowhere + ".gguf"}, "choose another --output"},
		"no folder for checkpoints": {[]string{"-o", fresh, "--checkpoint", nowhere}, "choose another --checkpoint"},
		"no folder for the plot":    {[]string{"-o", fresh, "--plot", nowhere + ".svg"}, "choose another --plot"},
	} {
		got := commandtest.Run(t, NewTrain, append([]string{"train", filepath.Join(folder, "no-data.jsonl"),
			"--device", "cpu"},
			c.args...)...)
		if got.Code != cli.ExitFailure || !strings.Contains(got.Err, c.want) || strings.Contains(got.Err, "no-data") {
			t.Errorf("%s: %d, %q; wanted %q", name, got.Code, got.Err, c.want)
		}
	}
	if flagset.IsThere(fresh) {
		t.Error("a run that did not begin has left an empty folder")
	}
	if data, err := os.ReadFile(file); err != nil || string(data) != "mine" {
		t.Errorf("the file in the way holds %q now, %v", data, err)
	}
}

func folderNamed(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// Two runs never write to one place. What a killed one has left is in nobody's way.
func TestTrainLocksItsOutput(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "adapter")
	first := &trainCommand{output: folder}
	stale := lockPath(savedFiles(folder)[0])
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(stale, []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	held, err := first.claim()
	if err != nil {
		t.Fatalf("over a lock that a killed run left: %v", err)
	}
	data := writeFile(t, "facts.jsonl", []byte(facts))
	train := []string{"train", data, "--device", "cpu", "--keep", "none", "--steps", "1", "--rank", "1", "--layers", "5"}
	want := fmt.Sprintf("another training run is under way there, by process %d", os.Getpid())
	for name, more := range map[string][]string{
		"the same adapter":     {"-o", folder},
		"the same checkpoints": {"-o", filepath.Join(t.TempDir(), "b"), "--checkpoint", folder + ".checkpoint"},
	} {
		if got := commandtest.Run(t, NewTrain, append(train, more...)...); got.Code != cli.ExitFailure ||
			!strings.Contains(got.Err, want) {
			t.Errorf("%s: %d, %q; wanted %q", name, got.Code, got.Err, want)
		}
	}
	if err := held.release(); err != nil {
		t.Fatal(err)
	}
	if got := commandtest.Run(t, NewTrain, append(train, "-o", folder)...); got.Code != 0 {
		t.Fatal(got.Err)
	}
	for _, path := range []string{stale, lockPath(folder + ".checkpoint")} {
		if flagset.IsThere(path) {
			t.Errorf("%s is left after the end", path)
		}
	}
}

// Steps are not lost because the adapter cannot be written after the last one.
func TestTrainKeepsStepsItCannotWrite(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "adapter")
	env := cli.System("gemwire")
	var said strings.Builder
	env.Err = &said
	c := &trainCommand{env: env, output: folder, data: writeFile(t, "facts.jsonl", []byte(facts)),
		again: pflag.NewFlagSet("train", pflag.ContinueOnError)}
	c.training.flags = pflag.NewFlagSet("training", pflag.ContinueOnError)
	c.again.String("output", "", "")
	c.again.String("device", "", "")
	if err := c.again.Parse([]string{"--output", folder, "--device", "cpu"}); err != nil {
		t.Fatal(err)
	}
	c.model.Device = "cpu"
	model, err := c.model.Open(t.Context(), env, "")
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	set, err := dataset.Load(t.Context(), model, strings.NewReader(facts), dataset.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	trainer, err := finetune.New(t.Context(), model, finetune.Data{Train: set.Whole()},
		finetune.Config{Steps: 2, Rank: 1, Layers: []int{5}, Linears: []adapter.Linear{adapter.Q}})
	if err != nil {
		t.Fatal(err)
	}
	defer trainer.Close()
	if err := os.WriteFile(folder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	again := "gemwire train " + c.data + " --device cpu --output " + folder + " --resume"
	err = c.train(t.Context(), trainer, newTrainProgress(c, model, trainer))
	if err == nil || !strings.Contains(err.Error(), "no step is lost") || !strings.HasSuffix(err.Error(), again) {
		t.Fatalf("%v; wanted %q at its end", err, again)
	}
	if err := os.Remove(folder); err != nil {
		t.Fatal(err)
	}
	got := commandtest.Run(t, NewTrain, strings.Fields(strings.TrimPrefix(again, "gemwire "))...)
	if got.Code != 0 || !strings.Contains(got.Err, "after 2 steps") {
		t.Errorf("resumed: %s", got.Err)
	}
	if _, err := adapter.Open(t.Context(), folder); err != nil {
		t.Error(err)
	}
}

// Where checkpoints cannot be written any more either, the steps go to the system's
// temporary files.
func TestTrainSavesStepsElsewhere(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	t.Setenv("TMP", temporary) // as Windows calls it
	c := &trainCommand{output: "adapter", checkpoint: filepath.Join(temporary, "gone", "a.checkpoint")}
	c.model.Device = "cpu"
	env := cli.System("gemwire")
	model, err := c.model.Open(t.Context(), env, "")
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	set, err := dataset.Load(t.Context(), model, strings.NewReader(facts), dataset.LoadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	data := finetune.Data{Train: set.Whole()}
	trainer, err := finetune.New(t.Context(), model, data,
		finetune.Config{Steps: 2, Rank: 1, Layers: []int{5}, Linears: []adapter.Linear{adapter.Q}})
	if err != nil {
		t.Fatal(err)
	}
	defer trainer.Close()
	path, err := c.saveSteps(t.Context(), trainer)
	if err != nil || filepath.Base(path) != "a.checkpoint" || filepath.Dir(filepath.Dir(path)) != temporary {
		t.Fatalf("%q, %v", path, err)
	}
	resumed, err := finetune.ResumeFile(t.Context(), model, data, path)
	if err != nil {
		t.Fatal(err)
	}
	if err := resumed.Close(); err != nil {
		t.Error(err)
	}
}

// A folder with nothing but the lock of a run that was killed is as good as none.
func TestIsNewFolder(t *testing.T) {
	folder := t.TempDir()
	if isNewFolder(folder) {
		t.Error("an empty folder of the user's is taken for ours")
	}
	if !isNewFolder(filepath.Join(folder, "none")) {
		t.Error("a folder that is not there is not new")
	}
	for _, tt := range []struct {
		name string
		want bool
	}{{".adapter_model.safetensors.lock", true}, {"notes.txt", false}} {
		if err := os.WriteFile(filepath.Join(folder, tt.name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if got := isNewFolder(folder); got != tt.want {
			t.Errorf("with %s: %t", tt.name, got)
		}
	}
}

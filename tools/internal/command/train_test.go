package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/finetune"
	"github.com/gemwire/gemwire/gemma4/adapter"
	"github.com/gemwire/gemwire/tools/internal/cli"
	"github.com/gemwire/gemwire/tools/internal/command/flagset"
	"github.com/gemwire/gemwire/tools/internal/command/training"
)

const facts = `{"prompt": "What color is the boat?", "completion": "The boat is purple."}
{"prompt": "What color is the kite?", "completion": "The kite is green."}
`

// trained trains a small adapter and returns its folder.
func trained(t *testing.T, more ...string) (folder string, got outcome) {
	t.Helper()
	folder = filepath.Join(t.TempDir(), "adapter")
	data := writeFile(t, "facts.jsonl", []byte(facts))
	got = gemwire(t, "", append([]string{"train", data, "--device", "cpu", "-o", folder, "--rate", "5e-3", "--linears",
		"q,v,down", "--rank", "4", "--keep", "none"}, more...)...)
	return folder, got
}

// From a JSONL file to a chat with the adapter.
func TestTrain(t *testing.T) {
	plot := filepath.Join(t.TempDir(), "loss.svg")
	folder, got := trained(t, "--steps", "25", "--plot", plot, "--preview", "1")
	ok(t, got)
	for _, want := range []string{"2 to learn from", "none held out",
		"rank 4 on attn_q, attn_v, ffn_down of all 6 layers", "8 examples per batch (as many with --steps; --batch N changes",
		"step 25/25", "⟦The boat is purple.<turn|>⟧", "--lora " +
			folder} {
		if !strings.Contains(got.err, want) {
			t.Errorf("%q is not said in:\n%s", want, got.err)
		}
	}
	if svg, err := os.ReadFile(plot); err != nil || !strings.Contains(string(svg), "<svg") {
		t.Errorf("the drawing: %v", err)
	}
	if flagset.IsThere(folder + ".checkpoint") {
		t.Error("a checkpoint is left after the end")
	}
	const question, purple = "What color is the boat?", "The boat is purple.\n"
	if answer := ok(t, gemwire(t, "", "run", "--device", "cpu", "--greedy", "--lora", folder,
		question)); answer != purple {
		t.Errorf("with the adapter: %q", answer)
	}
	if answer := ok(t, gemwire(t, "", "run", "--device", "cpu", "--greedy", "--lora", folder+"=0",
		question)); answer == purple {
		t.Error("with none of it the same")
	}
	chatted := chatting(t, []string{question, "/lora off", "What is the capital of France?", "/lora adapter=0.5",
		"/lora"}, "--lora", folder)
	if chatted.out != purple+paris+"  adapter            in use, weight 0.5\n" ||
		!strings.Contains(chatted.err, "in use, weight 0.5") {
		t.Errorf("%q, %q", chatted.out, chatted.err)
	}
	table := ok(t, gemwire(t, "", "eval", "--device", "cpu", writeFile(t, "facts.jsonl", []byte(facts)), "--lora",
		folder))
	if !strings.Contains(table, "0 of 2") || !strings.Contains(table, "2 of 2") {
		t.Errorf("eval says\n%s", table)
	}
}

func TestTrainJSON(t *testing.T) {
	_, got := trained(t, "--steps", "3", "--json")
	lines := strings.Split(strings.TrimSpace(ok(t, got)), "\n")
	for _, want := range []string{`"linears":["attn_q","attn_v","ffn_down"]`, `"batch":8,"batchTokens":2048`,
		`"rate":0.005`} {
		if !strings.Contains(lines[0], want) {
			t.Errorf("the plan lacks %s: %s", want, lines[0])
		}
	}
	var types []string
	for _, line := range lines {
		var e struct {
			Type string
			Loss float64
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if types = append(types, e.Type); e.Type == "step" && e.Loss <= 0 {
			t.Errorf("no loss in %q", line)
		}
	}
	if strings.Join(types, " ") != "plan step step step done" || strings.Contains(got.err, "step") {
		t.Errorf("%v, %q", types, got.err)
	}
}

// The keys of --json are the names of Go's fields.
func TestTrainJSONKeys(t *testing.T) {
	loss := 1.5
	for _, tt := range []struct {
		value any
		want  []string
	}{
		{training.Step{Event: finetune.Event{HeldOutLoss: &loss, Divergence: 2}}, []string{`"heldOutLoss":1.5`,
			`"divergence":2`}},
		{training.Plan{Plan: finetune.Plan{Rehearsed: 3}}, []string{`"rehearsed":3`}},
		{training.Done{Best: &loss}, []string{`"heldOutLoss":1.5`}},
	} {
		raw, err := json.Marshal(tt.value)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range tt.want {
			if !strings.Contains(string(raw), want) {
				t.Errorf("%s lacks %s", raw, want)
			}
		}
		for _, old := range []string{`"held":`, `"kept":`} {
			if strings.Contains(string(raw), old) {
				t.Errorf("%s has %s", raw, old)
			}
		}
	}
}

// Bad lines and cut examples are said aloud, and a part is held out.
func TestTrainData(t *testing.T) {
	lines := strings.Repeat(facts, 10) + "{\"prompt\": \"alone\"}\n" +
		`{"prompt": "Hi", "completion": "` + strings.Repeat("green ", 60) + "\"}\n"
	data := writeFile(t, "data.jsonl", []byte(lines))
	train := func(more ...string) outcome {
		return gemwire(t, "", append([]string{"train", data, "--device", "cpu", "-o", filepath.Join(t.TempDir(), "a"),
			"--dry-run"}, more...)...)
	}
	if got := train(); got.code != cli.ExitFailure || !strings.Contains(got.err, "line 21: ") ||
		!strings.Contains(got.err, "--skip-bad-lines") {
		t.Errorf("a bad line: %d, %q", got.code, got.err)
	}
	got := train("--skip-bad-lines", "--max-length", "40")
	if ok(t, got); !strings.Contains(got.err, "21 to learn from") || !strings.Contains(got.err, "none held out") {
		t.Errorf("a small set: %s", got.err)
	}
	got = train("--skip-bad-lines", "--max-length", "40", "--held-out", "5%")
	ok(t, got)
	for _, want := range []string{"20 to learn from", "1 held out and not learned (lines ", "line 21: ",
		"1 example truncated",
		"the first in line 22"} {
		if !strings.Contains(got.err, want) {
			t.Errorf("%q is not said in:\n%s", want, got.err)
		}
	}
	got = train("--skip-bad-lines", "--held-out", writeFile(t, "held.jsonl", []byte(facts)))
	if ok(t, got); !strings.Contains(got.err, "21 to learn from") || !strings.Contains(got.err, "2 held out") {
		t.Errorf("another file: %s", got.err)
	}
}

func TestTrainMistakes(t *testing.T) {
	data := writeFile(t, "facts.jsonl", []byte(facts))
	for want, args := range map[string][]string{
		"use a list such as 0-11,20":           {"--layers", "5-2"},
		`"w" is none of q, k, v`:               {"--linears", "w"},
		"give one":                             {"--steps", "3", "--epochs", "2"},
		"use auto or on":                       {"--recompute", "sometimes"},
		"use auto, none or a number":           {"--keep", "something"},
		"--word-dropout is 1, wanted a part":   {"--word-dropout", "1"},
		"--rank is 0":                          {"--rank", "0"},
		"is an SVG":                            {"--plot", "loss.png"},
		"use a share such as 5%, auto, none":   {"--held-out", "x%"},
		"there is no checkpoint":               {"--resume", "-o", filepath.Join(t.TempDir(), "none")},
		"--rate is 1.5; wanted a number above": {"--rate", "1.5"},
		"--max-length is -1, wanted 0 or more": {"--max-length=-1"},
	} {
		got := gemwire(t, "", append([]string{"train", data, "--device", "cpu"}, args...)...)
		if got.code != cli.ExitUsage || !strings.Contains(got.err, want) {
			t.Errorf("%v: %d, %q; wanted %q", args, got.code, got.err, want)
		}
	}
}

// A resumed run takes the flags that it began with, and no others.
func TestTrainResumesWithItsFlags(t *testing.T) {
	checkpoint := filepath.Join(t.TempDir(), "checkpoint")
	data, output := writeFile(t, "facts.jsonl", []byte(facts)), filepath.Join(t.TempDir(), "adapter")
	train := func(more string) outcome {
		line := "train " + data + " --device cpu -o " + output + " --checkpoint " + checkpoint + " " + more
		return gemwire(t, "", strings.Fields(line)...)
	}
	const began = "--steps 2 --checkpoint-every 1 --rank 2 --layers 4,5 --linears v,q --rate 1e-3 --keep none " +
		"--warmup 0 --alpha 0 --word-dropout 0 --batch 1 --batch-tokens 99 --seed 3 --decay 0.1 --recompute auto " +
		"--precision auto"
	ok(t, train(began))
	if got := train(began); got.code != cli.ExitUsage || !strings.Contains(got.err, "has an interrupted run") {
		t.Errorf("over a checkpoint: %d, %q", got.code, got.err)
	}
	ok(t, train("--resume --dry-run "+strings.Replace(began, "v,q", "attn_q,v", 1)))
	for flag, had := range map[string]string{
		"--steps 3": "2", "--rank 3": "2", "--layers 5": "4, 5", "--linears v": "attn_q, attn_v", "--rate 2e-3": "0.001",
		"--keep auto": "0 conversations", "--warmup 1": "0", "--alpha 1": "4", "--epochs 2": "0", "--recompute on": "auto",
		"--word-dropout 0.4": "0", "--patience 2": "0", "--schedule linear": "cosine", "--precision f32": "auto",
	} {
		want := strings.Fields(flag)[0] + " cannot change during a run, which began with " + had + "; leave it out"
		if got := train("--resume " + flag); got.code != cli.ExitUsage || !strings.Contains(got.err, want) {
			t.Errorf("%s: %d, %q; want %q", flag, got.code, got.err, want)
		}
	}
	ok(t, train(began+" --force"))
}

// Where a run diverges, what it says to type can be typed.
func TestTrainDiverges(t *testing.T) {
	data, output := writeFile(t, "facts.jsonl", []byte(facts)), filepath.Join(t.TempDir(), "adapter")
	line := "train " + data + " --device cpu -o " + output + " --keep none --layers 5 --steps 3 --checkpoint-every 1 " +
		"--alpha 1e30 --rate 1"
	got := gemwire(t, "", strings.Fields(line)...)
	_, again, said := strings.Cut(got.err, "begin again: gemwire ")
	if got.code != cli.ExitFailure || !said || !strings.Contains(got.err, "training diverged at step 2") {
		t.Fatalf("%d, %s", got.code, got.err)
	}
	if got := gemwire(t, "", append(strings.Fields(again), "--alpha", "2", "--rate", "1e-3")...); got.code != 0 {
		t.Errorf("%s: %s", again, got.err)
	}
	known := writeFile(t, "known.jsonl", []byte(`{"prompt": "What is the capital of France?", "completion": "`+
		strings.TrimSpace(paris)+`"}`))
	line = "train " + known + " --device cpu -o " + output + "2 --keep none --steps 5 --rate 1"
	got = gemwire(t, "", strings.Fields(line)...)
	if ok(t, got); !strings.Contains(got.err, "the adapter is of no use; train again with a lower --rate than 1\n") {
		t.Errorf("an adapter of no use: %s", got.err)
	}
}

func TestAdapterCommands(t *testing.T) {
	folder, got := trained(t, "--steps", "20")
	ok(t, got)
	if out := ok(t, gemwire(t, "", "adapter", "inspect", folder)); !strings.Contains(out,
		"ffn_down     in 6 layers, rank 4, alpha 8") {
		t.Errorf("inspect says\n%s", out)
	}
	file := filepath.Join(t.TempDir(), "adapter.gguf")
	ok(t, gemwire(t, "", "adapter", "convert", folder, file))
	wantSentence(t, gemwire(t, "", "adapter", "convert", folder, os.DevNull), "is not a folder")
	a, err := adapter.Open(t.Context(), file)
	if err != nil || a.Parameters() == 0 {
		t.Fatalf("converted: %v", err)
	}
	merged := filepath.Join(t.TempDir(), "merged.gguf")
	ok(t, gemwire(t, "", "adapter", "merge", "nano", "--lora", file, "--type", "F16", "-o", merged))
	if answer := ok(t, gemwire(t, "", "run", "--device", "cpu", "--greedy", merged,
		"What color is the kite?")); answer != "The kite is green.\n" {
		t.Errorf("merged: %q", answer)
	}
	if got := gemwire(t, "", "adapter", "merge", "nano"); got.code != cli.ExitUsage ||
		!strings.Contains(got.err, "--lora") {
		t.Errorf("nothing to merge: %d, %q", got.code, got.err)
	}
	if got := gemwire(t, "", "run", "--lora", "nowhere", "--device", "cpu", "Hi"); got.code != cli.ExitFailure ||
		!strings.Contains(got.err, "nowhere") {
		t.Errorf("no such adapter: %d, %q", got.code, got.err)
	}
}

// Examples show pictures and recordings that lie beside them. One that is not there, or
// is an address, makes a bad line.
func TestTrainMedia(t *testing.T) {
	folder := t.TempDir()
	for name, path := range map[string]string{"a scene.png": scene, "heard.wav": speech} {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	line := func(kind, name, question, answer string) string {
		return `{"messages": [{"role": "user", "content": [{"type": "` + kind + `", "url": "` + name +
			`", "budget": 70}, {"type": "text", "text": "` + question + `"}]}, ` +
			`{"role": "assistant", "content": "` + answer + "\"}]}\n"
	}
	data := filepath.Join(folder, "data.jsonl")
	write := func(lines ...string) {
		if err := os.WriteFile(data, []byte(strings.Join(lines, "")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(folder, "adapter")
	train := []string{"train", data, "--device", "cpu", "-o", out, "--rate", "5e-3", "--keep", "none", "--steps", "20"}
	write(line("image", "a scene.png", askPicture, "A red boat."),
		line("audio", "file://"+filepath.ToSlash(folder)+"/heard.wav", askAudio, "green seven"))
	ok(t, gemwire(t, "", train...))
	if answer := ok(t, gemwire(t, "", "run", "--device", "cpu", "--greedy", "--lora", out, "--image-budget", "70", "-i",
		scene, askPicture)); answer != "A red boat.\n" {
		t.Errorf("of the picture it says %q", answer)
	}
	if table := ok(t, gemwire(t, "", "eval", "--device", "cpu", data, "--lora", out)); !strings.Contains(table,
		"2 of 2") {
		t.Errorf("eval says\n%s", table)
	}
	write(line("image", "a scene.png", "What?", "Purple."), line("image", "none.png", "What?", "Red."),
		line("audio", "https://example.org/a.wav", "What?", "Blue."))
	got := gemwire(t, "", append(train, "--dry-run", "--skip-bad-lines")...)
	if ok(t, got); !strings.Contains(got.err, "line 2: ") || !strings.Contains(got.err, "line 3: ") ||
		!strings.Contains(got.err, "1 to learn from") {
		t.Errorf("lines that cannot be taken: %s", got.err)
	}
}

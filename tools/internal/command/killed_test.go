//go:build unix

package command

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// trainLine is the environment variable that makes this test's binary the command.
const trainLine = "GEMWIRE_TEST_TRAIN"

// TestCommandItself is the command, for TestKilled to start and kill.
func TestCommandItself(t *testing.T) {
	line := os.Getenv(trainLine)
	if line == "" {
		t.Skip("only TestKilled runs this, in a process of its own")
	}
	os.Exit(Main(strings.Fields(line)))
}

// Killed at whatever moment, a run always goes on from a whole checkpoint, and ends.
func TestKilled(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	data, output := writeFile(t, "facts.jsonl", []byte(facts)), filepath.Join(folder, "adapter")
	command := func(more string) *exec.Cmd {
		c := exec.Command(self, "-test.run=^TestCommandItself$")
		c.Env = append(os.Environ(), trainLine+"=train "+data+" --device cpu --checkpoint-every 1 -o "+output+" "+more, "OLLAMA_MODELS="+folder)
		return c
	}
	const fresh = "--steps 2000 --batch 1 --rank 1 --layers 5 --linears q,down"
	begin := fresh
	r := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))
	for kills := range 20 {
		c := command(begin)
		var said strings.Builder
		c.Stderr = &said
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		// The first checkpoint is waited for; from then on, any moment will do.
		for wait := time.Now(); begin == fresh && !isThere(output+".checkpoint") && time.Since(wait) < time.Minute; {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Duration(r.IntN(400)) * time.Millisecond)
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := c.Wait(); err == nil || c.ProcessState.Exited() {
			t.Fatalf("the run ended by itself, after %d kills: %v\n%s", kills, err, said.String())
		}
		begin = "--resume"
	}
	plan := command("--resume --dry-run --json")
	out, err := plan.Output()
	if err != nil || !strings.Contains(string(out), `"done":`) {
		t.Fatalf("after 20 kills: %v, %s", err, out)
	}
	t.Logf("20 kills, %s", out[strings.Index(string(out), `"done":`):])
}

//go:build unix

package command

import (
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// commandLine is the environment variable that makes this test's binary the command.
const commandLine = "GEMWIRE_TEST_LINE"

// TestCommandItself is the command, for tests to start as a process of its own.
func TestCommandItself(t *testing.T) {
	line := os.Getenv(commandLine)
	if line == "" {
		t.Skip("only other tests run this, in a process of its own")
	}
	os.Exit(Main(strings.Fields(line)))
}

// itself is a command line in a process of its own, with no models but the built-in one.
func itself(t *testing.T, line string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, "-test.run=^TestCommandItself$")
	nowhere := filepath.Join(t.TempDir(), "none")
	c.Env = append(os.Environ(), commandLine+"="+line, "OLLAMA_MODELS=", "GEMWIRE_MODELS="+nowhere, "HOME="+nowhere,
		"GEMWIRE_HISTORY=")
	return c
}

// Killed at whatever moment, a run always goes on from a whole checkpoint, and ends.
func TestKilled(t *testing.T) {
	folder := t.TempDir()
	data, output := writeFile(t, "facts.jsonl", []byte(facts)), filepath.Join(folder, "adapter")
	command := func(more string) *exec.Cmd {
		c := itself(t, "train "+data+" --device cpu --checkpoint-every 1 -o "+output+" "+more)
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
		ended := make(chan error, 1)
		go func() { ended <- c.Wait() }()
		// The first checkpoint is waited for, however slow the machine; from then on, any moment will do.
		for begin == fresh && !isThere(output+".checkpoint") && len(ended) == 0 {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Duration(r.IntN(400)) * time.Millisecond)
		if err := c.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
			t.Fatal(err)
		}
		if err := <-ended; err == nil || c.ProcessState.Exited() {
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

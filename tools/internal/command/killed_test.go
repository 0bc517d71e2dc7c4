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

	cases "github.com/gemwire/gemwire/gguf/conformance"
	"github.com/gemwire/gemwire/tools/internal/command/flagset"
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

// atOnce is enough for a killOnce that waits for nothing.
func atOnce() bool { return true }

// killOnce starts a command and kills it at a random moment of a time, which begins when it has done enough. It must
// not end by itself.
func killOnce(t *testing.T, c *exec.Cmd, enough func() bool, within time.Duration) {
	t.Helper()
	var said strings.Builder
	c.Stderr = &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for !enough() && len(ended) == 0 {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(rand.N(within + 1))
	if err := c.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	if err := <-ended; err == nil || c.ProcessState.Exited() {
		t.Fatalf("it ended by itself: %v\n%s", err, said.String())
	}
}

// Killed at whatever moment, a run always goes on from a whole checkpoint, and ends.
func TestKilled(t *testing.T) {
	cases.Long(t)
	kills := 4
	if cases.All() {
		kills = 20
	}
	folder := t.TempDir()
	data, output := writeFile(t, "facts.jsonl", []byte(facts)), filepath.Join(folder, "adapter")
	command := func(more string) *exec.Cmd {
		c := itself(t, "train "+data+" --device cpu --checkpoint-every 1 -o "+output+" "+more)
		return c
	}
	const fresh = "--steps 2000 --batch 1 --rank 1 --layers 5 --linears q,down"
	begin := fresh
	for range kills {
		// The first checkpoint is waited for, however slow the machine; from then on, any moment will do.
		begun := func() bool { return begin != fresh || flagset.IsThere(output+".checkpoint") }
		killOnce(t, command(begin), begun, 400*time.Millisecond)
		begin = "--resume"
	}
	plan := command("--resume --dry-run --json")
	out, err := plan.Output()
	if err != nil || !strings.Contains(string(out), `"done":`) {
		t.Fatalf("after %d kills: %v, %s", kills, err, out)
	}
	t.Logf("%d kills, %s", kills, out[strings.Index(string(out), `"done":`):])
}

//go:build unix

package command

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	cases "github.com/gemwire/gemwire/gguf/conformance"
)

// Killed at fifty moments, a batch has one answer to each request in the end. make test kills it five times.
func TestBatchKilled(t *testing.T) {
	cases.Long(t)
	requests, kills := 1000, 5
	if cases.All() {
		requests, kills = 10_000, 50
	}
	in, out := writeFile(t, "requests.jsonl", []byte(asked(requests))), filepath.Join(t.TempDir(), "answers.jsonl")
	line := "batch " + in + " -o " + out + " --model nano --device cpu --parallel 8"
	size := func() int64 {
		info, err := os.Stat(out)
		if err != nil {
			return 0
		}
		return info.Size()
	}
	for i := range kills {
		// Some are killed before they answer, the others after a few answers, however slow the machine.
		if i%5 == 0 {
			killOnce(t, itself(t, line), atOnce, 50*time.Millisecond)
			continue
		}
		waiting := size() + rand.Int64N(40_000)
		killOnce(t, itself(t, line), func() bool { return size() >= waiting }, 0)
	}
	got, err := itself(t, line).CombinedOutput()
	if err != nil || !strings.Contains(string(got), "had been answered before") {
		t.Fatalf("%v, %s", err, got)
	}
	answeredOnce(t, out, requests)
}

// A request to stop leaves whole lines, and says how to go on.
func TestBatchInterrupted(t *testing.T) {
	in, out := writeFile(t, "requests.jsonl", []byte(asked(20000))), filepath.Join(t.TempDir(), "answers.jsonl")
	c := itself(t, "batch "+in+" -o "+out+" --model nano --device cpu --parallel 4")
	var said strings.Builder
	c.Stderr = &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for {
		if info, err := os.Stat(out); err == nil && info.Size() > 10_000 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := c.Wait(); err == nil || c.ProcessState.ExitCode() != 130 ||
		!strings.Contains(said.String(), "run the same command again") {
		t.Errorf("%v, %s", err, said.String())
	}
	raw, err := os.ReadFile(out)
	if err != nil || !strings.HasSuffix(string(raw), "\n") {
		t.Errorf("%v, it ends %q", err, raw[max(0, len(raw)-50):])
	}
	if _, err := os.Stat(out + ".lock"); err == nil {
		t.Error("the lock is left")
	}
}

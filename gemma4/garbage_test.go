package gemma4_test

import (
	"runtime"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/sample"
)

// mostGarbage bounds the bytes that a token decoded on a GPU may leave for Go's
// collector, which has the only thread in a browser: a list of logits would be more.
const mostGarbage = 8 << 10

// TestTokensLeaveLittleGarbage takes the difference of a long answer and a short one.
func TestTokensLeaveLittleGarbage(t *testing.T) {
	s := newSession(t, open(t, nanoPath, gemma4.OpenOptions{Device: gemma4.DeviceGPU, Context: 256}), 0)
	prompt := readNanoCases(t)[2].IDs
	for name, sampling := range map[string]sample.Params{"greedy": {}, "sampled": sample.Default()} {
		garbage := func(tokens int) int64 {
			s.Reset()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			choose(t, s, prompt, gemma4.Choosing{MaxTokens: tokens, Sampling: sampling, Drafts: gemma4.NoDrafts})
			runtime.ReadMemStats(&after)
			return int64(after.TotalAlloc - before.TotalAlloc)
		}
		const short, long = 8, 72
		garbage(long)
		if each := (garbage(long) - garbage(short)) / (long - short); each > mostGarbage {
			t.Errorf("%s: a token leaves %d bytes of garbage, at most %d wanted", name, each, mostGarbage)
		}
	}
}

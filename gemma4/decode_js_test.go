package gemma4_test

import (
	"context"
	"math"
	"syscall/js"
	"testing"
	"time"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gguf"
)

// openNano opens the built-in model in the tab, with how long that took.
func openNano(tb testing.TB) (*gemma4.Model, *gemma4.Session) {
	tb.Helper()
	begun := time.Now()
	source, err := gguf.OpenFile("../testdata/conformance/nano/nano.gguf")
	if err != nil {
		tb.Fatal(err)
	}
	m, err := gemma4.Open(context.Background(), source, gemma4.OpenOptions{Device: gemma4.DeviceGPU})
	if err != nil {
		tb.Fatal(err)
	}
	opened := time.Now()
	s, err := m.NewSession(0)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Logf("%s: weights in %v, programs in %v", m.Info().DeviceName, opened.Sub(begun).Round(time.Millisecond),
		time.Since(opened).Round(time.Millisecond))
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
		if err := m.Close(); err != nil {
			tb.Error(err)
		}
	})
	return m, s
}

// jsCalls is how many calls Go has made to JavaScript, where the page counts them.
func jsCalls(tb testing.TB) int {
	counter := js.Global().Get("goCalls")
	if counter.IsUndefined() {
		tb.Skip("this page does not count calls (goCalls)")
	}
	return counter.Get("js").Int()
}

// decodeTokens decodes n tokens after a prompt and calls each for every one but
// the first, whose prompt is computed with it.
func decodeTokens(tb testing.TB, m *gemma4.Model, s *gemma4.Session, n int, each func()) {
	tb.Helper()
	prompt := m.Tokenizer().EncodeSpecial("<bos><|turn>user\nTell me a story.<turn|>\n<|turn>model\n")
	ids := make([]int32, len(prompt))
	for i, id := range prompt {
		ids[i] = int32(id)
	}
	got := 0
	for _, err := range s.Choose(context.Background(), gemma4.Tokens(ids),
		gemma4.Choosing{MaxTokens: n, Drafts: gemma4.NoDrafts}) {
		if err != nil {
			tb.Fatal(err)
		}
		if got > 0 {
			each()
		}
		got++
	}
	if got != n {
		tb.Fatalf("%d tokens, want %d", got, n)
	}
}

func TestDecodingCallsJavaScriptSeldom(t *testing.T) {
	m, s := openNano(t)
	const n, most = 101, 10
	last, calls, worst := 0, 0, 0
	decodeTokens(t, m, s, n, func() {
		now := jsCalls(t)
		if last > 0 {
			// Two calls are the counter's own.
			step := now - last - 2
			calls, worst = calls+step, max(worst, step)
		}
		last = now
	})
	t.Logf("%.2f calls a token, %d at most", float64(calls)/(n-2), worst)
	if mean := float64(calls) / (n - 2); mean > most {
		t.Errorf("%.2f calls from Go to JavaScript for a token, at most %d are right", mean, most)
	}
}

// BenchmarkDecodeNano measures a token, what of it the GPU works, by a
// timestamp around each kernel, and the rest: the host, the browser and what
// lies between two kernels. The best of some turns counts: other programs of
// the machine only add.
func BenchmarkDecodeNano(b *testing.B) {
	m, s := openNano(b)
	decodeTokens(b, m, s, 8, func() {})
	best := math.Inf(1)
	for b.Loop() {
		tokens, begun := 0, time.Now()
		decodeTokens(b, m, s, 101, func() {
			if tokens++; tokens%10 == 0 {
				best = min(best, float64(time.Since(begun).Microseconds())/10_000)
				begun = time.Now()
			}
		})
	}
	gpu := kernelsOfToken(b, s)
	b.ReportMetric(best, "ms/token")
	b.ReportMetric(gpu, "GPU-ms/token")
	b.ReportMetric(100*(1-gpu/best), "%outside")
	b.ReportMetric(0, "ns/op")
}

// kernelsOfToken is the milliseconds that a decoding step's kernels take, each at its best.
func kernelsOfToken(tb testing.TB, s *gemma4.Session) (sum float64) {
	tb.Helper()
	type kernel struct{ name, label string }
	best := map[kernel]time.Duration{}
	for range 40 {
		kernels, err := s.Profile(context.Background())
		if err != nil {
			tb.Skip(err)
		}
		for _, k := range kernels {
			id := kernel{k.Kernel, k.Label}
			if least, known := best[id]; !known || k.Time < least {
				best[id] = k.Time
			}
		}
	}
	for _, t := range best {
		sum += float64(t.Microseconds()) / 1000
	}
	return sum
}

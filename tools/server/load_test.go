package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// loadQuestions are asked over and over; each has one greedy answer.
var loadQuestions = []string{
	"What is the capital of France?", "What is the capital of Sweden?", "What is two plus two?", "Who are you?",
	"What is the capital of Italy?", "Name a colour.", "What is the capital of Spain?", "Say hello.",
}

// TestLoad has many clients ask at once for a while, some of which leave in the middle, break
// the connection or send what is no request. No answer may differ from the one that is given
// alone, and what the server holds may not grow. GEMWIRE_TEST_LOAD says for how long, with 200 clients:
//
//	GEMWIRE_TEST_LOAD=30m go test ./tools/server -run '^TestLoad$' -v -count=1 -timeout 1h
func TestLoad(t *testing.T) {
	if os.Getenv("GEMWIRE_TEST_ALL") == "" && os.Getenv("GEMWIRE_TEST_LOAD") == "" {
		t.Skip("with GEMWIRE_TEST_ALL or GEMWIRE_TEST_LOAD=5m")
	}
	lasting, clients := 15*time.Second, 50
	if text := os.Getenv("GEMWIRE_TEST_LOAD"); text != "" {
		var err error
		if lasting, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
		clients = 200
	}
	web, _ := serving(t, func(o *Options) {
		o.Models.Answers.Parallel, o.Models.Answers.Waiting = 8, 2*clients
		o.Models.KeepAlive = -1
	})
	l := &load{t: t, url: web.URL, want: map[string]string{}, counts: map[string]int{}}
	for _, q := range loadQuestions {
		answer, err := l.answer(t.Context(), q, false)
		if err != nil || answer == "" {
			t.Fatalf("%q: %q, %v", q, answer, err)
		}
		l.want[q] = answer
	}
	l.run(clients, lasting/4) // fills pools and caches
	before := settled()
	l.first = nil
	l.run(clients, lasting)
	after := settled()
	slices.Sort(l.first)
	t.Logf("%d clients for %v: %v, %d wrong; first token p50 %v, p99 %v; goroutines %d, then %d; heap %d kB, then %d; "+
		"resident memory %d MB, then %d", clients, lasting, l.counts, l.counts["wrong"], l.first[len(l.first)/2],
		l.first[len(l.first)*99/100], before.goroutines, after.goroutines, before.heap>>10, after.heap>>10,
		before.resident>>20, after.resident>>20)
	if after.goroutines > before.goroutines+clients/5 {
		t.Errorf("%d goroutines became %d", before.goroutines, after.goroutines)
	}
	if after.heap > before.heap+before.heap/4+8<<20 {
		t.Errorf("%d bytes in use became %d", before.heap, after.heap)
	}
	for _, kind := range []string{"whole", "streamed", "left", "broken off", "refused"} {
		if l.counts[kind] == 0 {
			t.Errorf("no request was %s", kind)
		}
	}
	if _, metrics := ask(t, "GET", web.URL+"/metrics", ""); !strings.Contains(metrics, "gemwire_batch_size_count") ||
		!strings.Contains(metrics, "gemwire_answers_running 0") {
		t.Error(metrics)
	}
}

// held is what a server that nobody asks holds.
type held struct {
	goroutines int
	heap       uint64
	resident   int64 // 0 where the system does not tell
}

func settled() held {
	http.DefaultClient.CloseIdleConnections()
	time.Sleep(500 * time.Millisecond)
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return held{runtime.NumGoroutine(), m.HeapAlloc, resident()}
}

// resident is this process's memory, of Linux's page of it.
func resident() int64 {
	raw, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	var size, pages int64
	if _, err := fmt.Sscan(string(raw), &size, &pages); err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}

// load is the clients of a server.
type load struct {
	t    *testing.T
	url  string
	want map[string]string

	mu     sync.Mutex
	counts map[string]int
	first  []time.Duration
}

func (l *load) run(clients int, lasting time.Duration) {
	ctx, cancel := context.WithTimeout(l.t.Context(), lasting)
	defer cancel()
	var group sync.WaitGroup
	for i := range clients {
		r := rand.New(rand.NewPCG(uint64(i), uint64(lasting)))
		group.Go(func() {
			for ctx.Err() == nil {
				l.one(r)
			}
		})
	}
	group.Wait()
}

func (l *load) count(kind string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts[kind]++
}

// one sends a request of some kind.
func (l *load) one(r *rand.Rand) {
	q := loadQuestions[r.IntN(len(loadQuestions))]
	switch kind := r.IntN(10); {
	case kind < 4:
		l.right("whole", q, false)
	case kind < 7:
		l.right("streamed", q, true)
	case kind == 7:
		ctx, cancel := context.WithTimeout(l.t.Context(), time.Duration(r.IntN(80))*time.Millisecond)
		defer cancel()
		if answer, err := l.answer(ctx, q, true); err == nil && answer != l.want[q] {
			l.count("wrong")
			l.t.Errorf("%q: %q, alone %q", q, answer, l.want[q])
		}
		l.count("left")
	case kind == 8:
		l.breakOff(q, r.IntN(3))
		l.count("broken off")
	default:
		l.refused(r)
	}
}

// right asks, and compares the answer with the one that is given alone.
func (l *load) right(kind, q string, stream bool) {
	answer, err := l.answer(l.t.Context(), q, stream)
	if err != nil || answer != l.want[q] {
		l.count("wrong")
		l.t.Errorf("%s %q: %q, %v; alone %q", kind, q, answer, err, l.want[q])
	}
	l.count(kind)
}

func (l *load) post(ctx context.Context, body string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, "POST", l.url+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	return http.DefaultClient.Do(r)
}

func (l *load) body(q string, stream bool) string {
	return fmt.Sprintf(`{"model":"nano","temperature":0,"max_tokens":24,"stream":%v,`+
		`"messages":[{"role":"user","content":%q}]}`, stream, q)
}

// answer is what is said to a question.
func (l *load) answer(ctx context.Context, q string, stream bool) (string, error) {
	begun := time.Now()
	response, err := l.post(ctx, l.body(q, stream))
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		raw, _ := io.ReadAll(response.Body) // the status says enough
		return "", fmt.Errorf("status %d: %.200s", response.StatusCode, raw)
	}
	if !stream {
		var whole struct {
			Choices []struct{ Message struct{ Content string } }
		}
		if err := json.NewDecoder(response.Body).Decode(&whole); err != nil || len(whole.Choices) != 1 {
			return "", fmt.Errorf("%d choices: %w", len(whole.Choices), err)
		}
		return whole.Choices[0].Message.Content, nil
	}
	var text strings.Builder
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var part struct {
			Choices []struct{ Delta struct{ Content string } }
		}
		if err := json.Unmarshal([]byte(data), &part); err != nil {
			return "", err
		}
		for _, c := range part.Choices {
			if text.Len() == 0 && c.Delta.Content != "" {
				l.mu.Lock()
				l.first = append(l.first, time.Since(begun))
				l.mu.Unlock()
			}
			text.WriteString(c.Delta.Content)
		}
	}
	return text.String(), lines.Err()
}

// breakOff reads a few lines of an answer and breaks the connection.
func (l *load) breakOff(q string, lines int) {
	response, err := l.post(l.t.Context(), l.body(q, true))
	if err != nil {
		l.t.Error(err)
		return
	}
	reader := bufio.NewReader(response.Body)
	for range lines {
		_, _ = reader.ReadString('\n') // it may have ended
	}
	_ = response.Body.Close() // with what is unread
}

// refused sends what no answer may come of.
func (l *load) refused(r *rand.Rand) {
	bad := []string{
		`{"model":"nano","messages":[`, `{"model":"nobody","messages":[{"role":"user","content":"Hi"}]}`, `[]`,
		`{"model":"nano","messages":[{"role":"user","content":"Hi"}],"temperature":-3}`,
		`{"model":"nano","messages":[]}`, "\x00\xff",
	}
	response, err := l.post(l.t.Context(), bad[r.IntN(len(bad))])
	if err != nil {
		l.t.Error(err)
		return
	}
	defer response.Body.Close()
	if response.StatusCode < 400 || response.StatusCode >= 500 {
		l.t.Errorf("a bad request: status %d", response.StatusCode)
	}
	l.count("refused")
}

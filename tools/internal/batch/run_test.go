package batch

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gemwire/gemwire/gguf/conformance"
)

// echo answers with what it was asked, later requests sooner.
func echo(asked *atomic.Int64) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		var in struct {
			Model string `json:"model"`
			N     int    `json:"n"`
			Fail  bool   `json:"fail"`
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			panic(err)
		}
		time.Sleep(time.Duration(rand.IntN(300)) * time.Microsecond)
		if in.Fail {
			w.WriteHeader(http.StatusBadRequest)
		}
		_, _ = fmt.Fprintf(w, "{\n \"model\": %q, \"n\": %d, "+
			"\"usage\": {\"prompt_tokens\": 2, \"completion_tokens\": 3}}\n", in.Model, in.N)
	})
}

func good(n int) string {
	return fmt.Sprintf(`{"custom_id":"r%d","method":"POST","url":"/v1/chat/completions",`+
		`"body":{"model":"m","n":%[1]d}}`, n)
}

func output(t *testing.T) *os.File {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(t.TempDir(), "out.jsonl"), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func to(t *testing.T, f *os.File) Output {
	t.Helper()
	o, err := ToFile(f)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// answers reads whole lines.
func answers(t *testing.T, f *os.File) (list []answer) {
	t.Helper()
	raw, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		var a answer
		if err := json.Unmarshal([]byte(line), &a); err != nil || !strings.HasSuffix(line, "\n") {
			t.Fatalf("%v in %q", err, line)
		}
		list = append(list, a)
	}
	return list
}

func TestForm(t *testing.T) {
	const chat = `"method":"POST","url":"/v1/chat/completions"`
	tests := []struct{ line, code string }{
		{good(0), ""},
		{`{"custom_id":"fails",` + chat + `,"body":{"fail":true}}`, ""},
		{`{`, "invalid_json_line"},
		{`[1]`, "invalid_json_line"},
		{"\xff", "invalid_json_line"},
		{`{` + chat + `,"body":{}}`, "missing_required_parameter"},
		{`{"custom_id":"",` + chat + `,"body":{}}`, "missing_required_parameter"},
		{`{"custom_id":7,` + chat + `,"body":{}}`, "invalid_request"},
		{good(0), "duplicate_custom_id"},
		{`{"custom_id":"get","method":"GET","url":"/v1/chat/completions","body":{}}`, "invalid_method"},
		{`{"custom_id":"files","method":"POST","url":"/v1/files","body":{}}`, "invalid_url"},
		{`{"custom_id":"nowhere","method":"POST","body":{}}`, "missing_required_parameter"},
		{`{"custom_id":"nothing",` + chat + `}`, "missing_required_parameter"},
		{`{"custom_id":"null",` + chat + `,"body":null}`, "missing_required_parameter"},
		{`{"custom_id":"long","x":"` + strings.Repeat("x", MostLine) + `"}`, "line_too_long"},
		{strings.TrimSuffix(good(1), "}") + `,"more":1}`, ""},
	}
	var in strings.Builder
	for _, tt := range tests {
		in.WriteString(tt.line + "\n\r\n")
	}
	out := output(t)
	var asked atomic.Int64
	o := Options{Handler: echo(&asked), Model: "mine", AtOnce: 3}
	sum, err := Run(t.Context(), strings.NewReader(in.String()), to(t, out), o)
	if err != nil {
		t.Fatal(err)
	}
	got := answers(t, out)
	if len(got) != len(tests) || sum.Answered != 2 || sum.Failed != 1 || sum.Refused != 13 || sum.OutputTokens != 9 {
		t.Fatalf("%d answers, %+v", len(got), sum)
	}
	ids := map[string]bool{}
	for i, a := range got {
		if ids[a.ID] || !strings.HasPrefix(a.ID, "batch_req_") {
			t.Errorf("id %q", a.ID)
		}
		ids[a.ID] = true
		if code := tests[i].code; code != "" {
			if a.Error == nil || a.Error.Code != code || a.Response != nil || a.Error.Line != int64(2*i+1) {
				t.Errorf("%.80s: %+v %+v", tests[i].line, a.Error, a.Response)
			}
			continue
		}
		if a.Error != nil || a.Response == nil || a.CustomID == nil ||
			!strings.Contains(string(a.Response.Body), `"model":"mine"`) {
			t.Errorf("%.80s: %+v", tests[i].line, a)
		}
	}
	if got[1].Response.Status != 400 || *got[1].CustomID != "fails" {
		t.Errorf("%+v", got[1])
	}
}

// An answer without a word is empty in the form of each API, unless it calls a tool or is cut.
func TestEmptyAnswers(t *testing.T) {
	const chat, text, responses = "/v1/chat/completions", "/v1/completions", "/v1/responses"
	const ollama, generate, messages = "/api/chat", "/api/generate", "/v1/messages"
	for _, tt := range []struct {
		url, body string
		empty     bool
	}{
		{chat, `{"choices":[{"message":{"content":""},"finish_reason":"stop"}]}`, true},
		{chat, `{"choices":[{"message":{"content":"\n"},"finish_reason":"stop"}]}`, true},
		{chat, `{"choices":[{"message":{"content":""},"finish_reason":"length"}]}`, false},
		{chat, `{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}`, false},
		{chat, `{"choices":[{"message":{"content":null,"tool_calls":[{}]},"finish_reason":"tool_calls"}]}`, false},
		{chat, `{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"},` +
			`{"message":{"content":""},"finish_reason":"stop"}]}`, true},
		{text, `{"choices":[{"text":"","finish_reason":"stop"}]}`, true},
		{text, `{"choices":[{"text":"Hi","finish_reason":"stop"}]}`, false},
		{responses, `{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":""}]}],` +
			`"text":{"format":{}}}`, true},
		{responses, `{"status":"completed","output":[{"type":"message","content":[{"text":"Hi"}]}]}`, false},
		{responses, `{"status":"completed","output":[{"type":"function_call"}]}`, false},
		{responses, `{"status":"incomplete","output":[{"type":"reasoning"}]}`, false},
		{messages, `{"content":[],"stop_reason":"end_turn"}`, true},
		{messages, `{"content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn"}`, false},
		{messages, `{"content":[{"type":"tool_use"}],"stop_reason":"tool_use"}`, false},
		{messages, `{"content":[],"stop_reason":"max_tokens"}`, false},
		{ollama, `{"message":{"content":""},"done_reason":"stop"}`, true},
		{ollama, `{"message":{"content":"","tool_calls":[{}]},"done_reason":"stop"}`, false},
		{ollama, `{"message":{"content":"Hi"},"done_reason":"stop"}`, false},
		{generate, `{"response":"","done_reason":"stop"}`, true},
		{generate, `{"response":"","done_reason":"load"}`, false},
		{generate, `{"response":"Hi","done_reason":"stop"}`, false},
		{"/v1/embeddings", `{"data":[]}`, false},
		{chat, `[]`, false},
		{messages, `kept`, false},
	} {
		if isEmpty(tt.url, []byte(tt.body)) != tt.empty {
			t.Errorf("%s %s: empty is %v", tt.url, tt.body, !tt.empty)
		}
	}
}

// A mistake in a line's JSON is said in words for whoever wrote the line.
func TestWordsOfALine(t *testing.T) {
	for line, want := range map[string]string{
		`{"custom_id":`:   "it ends too early",
		`These are notes`: "something is wrong at byte 1",
		`[1]`:             "it is of the kind array",
	} {
		got := parse([]byte(line), false, 1, "").fault
		if got == nil || got.Message != "the line is not a JSON object: "+want {
			t.Errorf("%s: %+v, want %q", line, got, want)
		}
	}
}

// Wherever a run ends, the next one goes on, and each request is answered once.
func TestResume(t *testing.T) {
	const n = 200
	var in strings.Builder
	for i := range n {
		in.WriteString(good(i) + "\n")
		if i%50 == 7 {
			in.WriteString("{torn\n")
		}
	}
	total := int64(n + 4)
	for shards := 1; shards <= 3; shards++ {
		var all int64
		for shard := range shards {
			out := output(t)
			written, want := int64(0), (total-int64(shard)+int64(shards)-1)/int64(shards)
			for written < want {
				ctx, cancel := context.WithCancel(t.Context())
				var asked atomic.Int64
				left := rand.Int64N(40) + 1
				sum, err := Run(ctx, strings.NewReader(in.String()), to(t, out), Options{
					Handler: echo(&asked), AtOnce: 8, Shard: shard, Shards: shards,
					Progress: func(s Summary) {
						if s.Requests >= left {
							cancel()
						}
					},
				})
				cancel()
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Fatal(err)
				}
				written = int64(len(answers(t, out)))
				if sum.Before+sum.FailedBefore+sum.Requests != written {
					t.Fatalf("%+v, and %d answers", sum, written)
				}
				if _, err := out.WriteString(`{"id":"batch_req_torn","custom_`); err != nil {
					t.Fatal(err)
				}
				if written == want {
					if _, err := Run(t.Context(), strings.NewReader(in.String()), to(t, out), Options{Handler: nil, Shard: shard,
						Shards: shards}); err != nil {
						t.Fatal(err)
					}
				} else if info, err := out.Stat(); err != nil || out.Truncate(info.Size()-rand.Int64N(5)) != nil {
					t.Fatal(err)
				}
			}
			all += written
			for _, a := range answers(t, out) {
				if a.Response != nil && !strings.Contains(string(a.Response.Body), fmt.Sprintf(`"n":%s,`, (*a.CustomID)[1:])) {
					t.Errorf("%s got %s", *a.CustomID, a.Response.Body)
				}
			}
		}
		if all != total {
			t.Errorf("%d shards have %d answers of %d", shards, all, total)
		}
	}
}

func TestOtherOutput(t *testing.T) {
	var asked atomic.Int64
	out := output(t)
	o := Options{Handler: echo(&asked)}
	if _, err := Run(t.Context(), strings.NewReader(good(1)+"\n"+good(2)), to(t, out), o); err != nil {
		t.Fatal(err)
	}
	for _, in := range []string{good(1), good(2) + "\n" + good(1), ""} {
		before := len(answers(t, out))
		_, err := Run(t.Context(), strings.NewReader(in), to(t, out), Options{Handler: echo(&asked)})
		if !errors.Is(err, ErrOther) {
			t.Errorf("%q: %v", in, err)
		}
		if len(answers(t, out)) != before {
			t.Error("answers are gone")
		}
	}
	if err := os.WriteFile(out.Name(), []byte("my diary\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), strings.NewReader(good(1)), to(t, out), o); !errors.Is(err, ErrOther) {
		t.Error(err)
	}
	if raw, err := os.ReadFile(out.Name()); err != nil || string(raw) != "my diary\n" {
		t.Errorf("%q, %v", raw, err)
	}
}

// endless are requests without end, and what they take is bounded.
type endless struct {
	left, n int
	piece   []byte
}

func (e *endless) Read(p []byte) (int, error) {
	if len(e.piece) == 0 {
		if e.left == 0 {
			return 0, io.EOF
		}
		e.left, e.n = e.left-1, e.n+1
		e.piece = []byte(strings.TrimSuffix(good(e.n), "}}") + `,"pad":"` + strings.Repeat("x", 2000) + "\"}}\n")
	}
	n := copy(p, e.piece)
	e.piece = e.piece[n:]
	return n, nil
}

func TestMemoryIsBounded(t *testing.T) {
	conformance.Long(t)
	const requests = 100_000 // 200 MB
	out := output(t)
	most, counted := uint64(0), 0
	plain := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{}`) })
	sum, err := Run(t.Context(), &endless{left: requests}, to(t, out), Options{
		Handler: plain, AtOnce: 16, seen: 1000,
		Progress: func(Summary) {
			if counted++; counted%10_000 == 0 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				most = max(most, m.HeapAlloc)
			}
		},
	})
	if err != nil || sum.Answered != requests {
		t.Fatalf("%+v, %v", sum, err)
	}
	if most > 24<<20 {
		t.Errorf("%d MB in use for 200 MB of requests", most>>20)
	}
	if _, err := out.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	lines, n := bufio.NewScanner(out), 0
	for lines.Scan() {
		n++
		if want := fmt.Sprintf(`"custom_id":"r%d"`, n); !strings.Contains(lines.Text(), want) {
			t.Fatalf("line %d lacks %s: %.200s", n, want, lines.Text())
		}
	}
	if n != requests {
		t.Errorf("%d lines", n)
	}
}

// broken is a disk that is full after some bytes.
func TestWriteFails(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_RDWR, 0)
	if err != nil {
		t.Skip("there is no /dev/full here")
	}
	defer full.Close()
	var asked atomic.Int64
	_, err = Run(t.Context(), &endless{left: 1000}, to(t, full), Options{Handler: echo(&asked), AtOnce: 4})
	if err == nil || !strings.Contains(err.Error(), "writing the answers") {
		t.Error(err)
	}
	if asked.Load() > 200 {
		t.Errorf("%d requests were asked with nowhere to write", asked.Load())
	}
}

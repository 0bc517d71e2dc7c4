package command

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// asked are requests of several APIs, each with its own custom_id.
func asked(n int) string {
	var b strings.Builder
	for i := range n {
		body := `"url":"/v1/chat/completions","body":{"model":"gpt-x","temperature":0,"messages":[{"role":"user",` +
			`"content":"What is the capital of France?"}]}`
		switch i % 5 {
		case 1:
			body = `"url":"/api/chat","body":{"model":"x","options":{"temperature":0},"messages":[{"role":"user",` +
				`"content":"What is the capital of France?"}]}`
		case 2:
			body = `"url":"/v1/messages","body":{"model":"x","max_tokens":50,"temperature":0,"stream":true,` +
				`"messages":[{"role":"user","content":"What is the capital of France?"}]}`
		case 3:
			body = `"url":"/v1/nothing","body":{}`
		}
		fmt.Fprintf(&b, `{"custom_id":"request %d","method":"POST",%s}`+"\n", i, body)
	}
	return b.String()
}

// answeredOnce checks that each request of a file has one answer, the right one.
func answeredOnce(t *testing.T, out string, n int) {
	t.Helper()
	raw, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
	if len(lines) != n {
		t.Fatalf("%d answers to %d requests", len(lines), n)
	}
	for i, line := range lines {
		var a struct {
			CustomID string `json:"custom_id"`
			Response *struct {
				Status int             `json:"status_code"`
				Body   json.RawMessage `json:"body"`
			} `json:"response"`
			Error *struct{ Code string }
		}
		if err := json.Unmarshal([]byte(line), &a); err != nil || a.CustomID != fmt.Sprint("request ", i) {
			t.Fatalf("line %d: %v in %.200s", i, err, line)
		}
		if i%5 == 3 {
			if a.Response != nil || a.Error == nil || a.Error.Code != "invalid_url" {
				t.Errorf("%.300s", line)
			}
			continue
		}
		if a.Error != nil || a.Response == nil || a.Response.Status != 200 ||
			!strings.Contains(string(a.Response.Body), strings.TrimSpace(paris)) {
			t.Errorf("%.300s", line)
		}
	}
}

func TestBatch(t *testing.T) {
	in, out := writeFile(t, "requests.jsonl", []byte(asked(25))), filepath.Join(t.TempDir(), "answers.jsonl")
	got := gemwire(t, "", "batch", in, "-o", out, "--model", "nano", "--device", "cpu", "--parallel", "4", "--json")
	var sum struct{ Requests, Answered, Failed, Refused, OutputTokens int }
	if err := json.Unmarshal([]byte(ok(t, got)), &sum); err != nil || sum.Answered != 20 ||
		sum.Refused != 5 || sum.OutputTokens < 100 {
		t.Errorf("%+v, %v, %s", sum, err, got.err)
	}
	answeredOnce(t, out, 25)
	again := gemwire(t, "", "batch", in, "-o", out, "--model", "nano", "--device", "cpu")
	if ok(t, again); !strings.Contains(again.err, "20 of 25 requests had been answered before, and 5 had failed") {
		t.Errorf("%s", again.err)
	}
	first := gemwire(t, "", "batch", in, "-o", filepath.Join(t.TempDir(), "a.jsonl"), "--device", "cpu")
	if first.code != 1 || !strings.Contains(first.err, `"request 0": 404 no such model`) {
		t.Errorf("exit status %d: %s", first.code, first.err)
	}
	whole := ""
	for i := range 3 {
		part := filepath.Join(t.TempDir(), "part.jsonl")
		ok(t, gemwire(t, "", "batch", in, "-o", part, "--model", "nano", "--device", "cpu",
			"--shard", fmt.Sprintf("%d/3", i)))
		raw, err := os.ReadFile(part)
		if err != nil {
			t.Fatal(err)
		}
		whole += string(raw)
	}
	for i := range 25 {
		if n := strings.Count(whole, fmt.Sprintf(`"custom_id":"request %d"`, i)); n != 1 {
			t.Errorf("request %d has %d answers in three shards", i, n)
		}
	}
}

// Requests that failed are told apart from answered ones, and asked again where that is wished. What was answered
// stays as it is, however the second run ends.
func TestBatchRetries(t *testing.T) {
	in, out := writeFile(t, "requests.jsonl", []byte(asked(7))), filepath.Join(t.TempDir(), "answers.jsonl")
	const few = `{"id":"x","custom_id":"request 0","response":{"status_code":200,"body":"kept"},"error":null}
{"id":"x","custom_id":"request 1","response":{"status_code":503,"body":"busy"},"error":null}
{"id":"x","custom_id":null,"response":null,"error":{"code":"invalid_json_line"}}
{"id":"x","custom_id":"request 3","response":null,"error":{"code":"invalid_url"}}
`
	if err := os.WriteFile(out, []byte(few+`{"id":"torn`), 0o600); err != nil {
		t.Fatal(err)
	}
	line := []string{"batch", in, "-o", out, "--model", "nano", "--device", "cpu", "--retry-failed"}
	ok(t, gemwire(t, "", line...))
	raw, err := os.ReadFile(out)
	if err != nil || !strings.HasPrefix(string(raw), few[:strings.Index(few, "\n")+1]) ||
		strings.Contains(string(raw), "busy") || strings.Contains(string(raw), "invalid_json_line") {
		t.Fatalf("%v, %s", err, raw)
	}
	body := strings.Replace(string(raw), `"body":"kept"`, `"body":`+strings.TrimSpace(strconv.Quote(paris)), 1)
	if err := os.WriteFile(out, []byte(body), 0o600); err != nil {
		t.Fatal(err)
	}
	answeredOnce(t, out, 7)
	again := gemwire(t, "", line[:len(line)-1]...)
	if ok(t, again); again.err != "6 of 7 requests had been answered before, and 1 had failed; "+
		"--retry-failed asks those again\n" {
		t.Errorf("%s", again.err)
	}
	other := writeFile(t, "diary", []byte("my diary"))
	if got := gemwire(t, "", "batch", in, "-o", other, "--retry-failed", "--model", "nano"); got.code != 1 {
		t.Errorf("%d, %s", got.code, got.err)
	}
	if entries, err := os.ReadDir(filepath.Dir(other)); err != nil || len(entries) != 1 {
		t.Errorf("%v is left, %v", entries, err)
	}
	if raw, err := os.ReadFile(other); err != nil || string(raw) != "my diary" {
		t.Errorf("%q, %v", raw, err)
	}
}

// Answers in which the model says nothing stay as the API has them, and are counted.
func TestBatchOfNothing(t *testing.T) {
	const chat = `"url":"/v1/chat/completions","body":{"temperature":0,"messages":[{"role":"user","content":` +
		`"What is the capital of France?"}]`
	requests := `{"custom_id":"silent",` + chat + `,"logit_bias":{"6":100}}}` + "\n" +
		`{"custom_id":"both of two",` + chat + `,"n":2,"logit_bias":{"6":100}}}` + "\n" +
		`{"custom_id":"speaks",` + chat + `}}` + "\n" +
		`{"custom_id":"Ollama","url":"/api/chat","body":{"options":{"logit_bias":"6=100"},"messages":[{"role":"user",` +
		`"content":"Hi"}]}}`
	in, out := writeFile(t, "requests.jsonl", []byte(requests)), filepath.Join(t.TempDir(), "answers.jsonl")
	got := gemwire(t, "", "batch", in, "-o", out, "--model", "nano", "--device", "cpu")
	if ok(t, got); !strings.Contains(got.err, "4 answered, 0 failed") ||
		!strings.Contains(got.err, "\n3 answers are empty: the model ended before a word; try") {
		t.Errorf("%s", got.err)
	}
	raw, err := os.ReadFile(out)
	if err != nil || strings.Count(string(raw), `"message":{"role":"assistant","content":""}`) != 4 {
		t.Errorf("%v, %s", err, raw)
	}
}

func TestBatchMistakes(t *testing.T) {
	in := writeFile(t, "requests.jsonl", []byte(asked(2)))
	other := writeFile(t, "answers.jsonl", []byte("my diary\n"))
	for args, want := range map[string]string{
		"batch " + in:                                     "--output",
		"batch " + in + " -o " + in:                       "are one file",
		"batch " + in + " -o " + other:                    "holds answers to other requests",
		"batch none.jsonl -o x.jsonl":                     "none.jsonl",
		"batch " + in + " -o x.jsonl --shard 8/8":         "the last of 8 is 7/8",
		"batch " + in + " -o x.jsonl --shard x":           "use I/N",
		"batch gs://abc/d -o x.jsonl":                     "batch reads and writes files, pipes and s3://",
		"batch " + in + " -o x.jsonl --parallel 0":        "--parallel is 0; wanted 1 to",
		"batch " + in + " -o " + other + "2 --model nope": "no such model",
	} {
		if got := gemwire(t, "", strings.Fields(args)...); got.code == 0 || !strings.Contains(got.err, want) {
			t.Errorf("%s: %d, %s", args, got.code, got.err)
		}
	}
	if raw, err := os.ReadFile(other); err != nil || string(raw) != "my diary\n" {
		t.Errorf("%q, %v", raw, err)
	}
}

// Where nothing could be answered, whoever started the batch hears it by its status; the output says why.
func TestBatchOfMistakes(t *testing.T) {
	in := writeFile(t, "requests.jsonl", []byte(`{"custom_id":"a","method":"POST","url":"/v1/chats","body":{}}`+"\n"))
	out := filepath.Join(t.TempDir(), "answers.jsonl")
	got := gemwire(t, "", "batch", in, "-o", out, "--model", "nano", "--device", "cpu")
	if got.code != 1 || !strings.Contains(got.err, "none of the requests could be answered, 1 in all") {
		t.Errorf("status %d, %s", got.code, got.err)
	}
	ok(t, gemwire(t, "", "batch", in, "-o", out+".0", "--model", "nano", "--device", "cpu", "--shard", "0/2"))
	if raw, err := os.ReadFile(out); err != nil || !strings.Contains(string(raw), "invalid_url") {
		t.Errorf("%v, %s", err, raw)
	}
}

package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gemwire/gemwire/gemma4/nano"
)

// TestFaults: each API says in its own form what is wrong.
func TestFaults(t *testing.T) {
	web, _ := serving(t, func(o *Options) { o.MostBody = 4000; o.Keys = []string{"one", "two"} })
	long := strings.Repeat("word ", 900)
	huge := strings.Repeat("x", 5000)
	key := []string{"Authorization", "Bearer two"}
	for name, tt := range map[string]struct {
		path, body string
		headers    []string
		status     int
		want       string
	}{
		"openai: bad JSON":      {"/v1/chat/completions", `{"model":`, key, 400, `"type":"invalid_request_error"`},
		"openai: no body":       {"/v1/chat/completions", ``, key, 400, `the body is empty`},
		"openai: not an object": {"/v1/chat/completions", `[]`, key, 400, `an object belongs`},
		"openai: no model":      {"/v1/chat/completions", `{"model":"gpt-4"}`, key, 404, `"code":"model_not_found"`},
		"openai: no such place": {"/v1/chat", `{}`, key, 404, `"code":"unknown_url"`},
		"anthropic: no such place": {"/v1/messages/x", `{}`, append(key, "anthropic-version", "2023-06-01"), 404,
			`there is nothing at POST`},
		"openai: which model": {"/v1/chat/completions", `{}`, key, 400, `"param":"model"`},
		"openai: no messages": {"/v1/chat/completions", `{"model":"nano"}`, key, 400, `"param":"messages"`},
		"openai: a role": {"/v1/chat/completions", `{"model":"nano","messages":[{"role":"king","content":"x"}]}`,
			key, 400, "king"},
		"openai: temperature": {"/v1/chat/completions", question + `,"temperature":-1}`, key, 400,
			`"param":"temperature"`},
		"openai: n": {"/v1/chat/completions", question + `,"n":1000}`, key, 400, `"param":"n"`},
		"openai: top_logprobs": {"/v1/chat/completions", question + `,"logprobs":true,"top_logprobs":21}`, key, 400,
			`top_logprobs`},
		"openai: a message of nothing": {"/v1/chat/completions", `{"model":"nano","messages":[{"role":"user"}]}`, key, 400,
			`"param":"messages.[0].content"`},
		"openai: a message of a number": {"/v1/chat/completions",
			`{"model":"nano","messages":[{"role":"user","content":5}]}`, key, 400, `"param":"messages.[0].content"`},
		"openai: a stop text of nothing": {"/v1/chat/completions", question + `,"stop":[null]}`, key, 400, `"param":"stop"`},
		"anthropic: a message of nothing": {"/v1/messages",
			`{"model":"nano","max_tokens":3,"messages":[{"role":"user"}]}`, key, 400, `messages.0.content`},
		"openai: a bias": {"/v1/chat/completions", question + `,"logit_bias":{"x":1}}`, key, 400, `logit_bias`},
		"openai: a token": {"/v1/chat/completions", question + `,"logit_bias":{"99999999":1}}`, key, 400,
			`"param":"logit_bias"`},
		"openai: tool_choice": {"/v1/chat/completions", question + `,"tool_choice":"some"}`, key, 400,
			`"param":"tool_choice"`},
		"openai: no tools": {"/v1/chat/completions", question + `,"tool_choice":"required"}`, key, 400,
			"no function is declared"},
		"openai: a schema": {"/v1/chat/completions", question +
			`,"response_format":{"type":"json_schema","json_schema":{"schema":{"type":"cat"}}}}`, key, 400, "cat"},
		"openai: the field of a schema": {"/v1/chat/completions", question +
			`,"response_format":{"type":"json_schema","json_schema":{"schema":{"type":"cat"}}}}`, key, 400,
			`"param":"response_format"`},
		"openai: the field of a response's schema": {"/v1/responses", `{"model":"nano","input":"x","text":{"format":` +
			`{"type":"json_schema","name":"pet","schema":{"type":"cat"}}}}`, key, 400, `"param":"text.format"`},
		"openai: the field of a tool": {"/v1/chat/completions", question + `,"tool_choice":"required","tools":[{"type":` +
			`"function","function":{"name":"f","parameters":{"type":"cat"}}}]}`, key, 400, `"param":"tools"`},
		"openai: the field of a choice": {"/v1/chat/completions", question + `,"tool_choice":"required"}`, key, 400,
			`"param":"tool_choice"`},
		"openai: a response's format by its name": {"/v1/responses", `{"model":"nano","input":"x","max_output_tokens":16,` +
			`"text":{"format":{"type":"json_schema","name":"pet","schema":{"enum":[1]}}}}`, key, 200, `"name":"pet"`},
		"openai: a picture": {"/v1/chat/completions",
			`{"model":"nano","messages":[{"role":"user","content":[{"type":"image_url",` +
				`"image_url":{"url":"data:image/png;base64,AAAA"}}]}]}`, key, 400, "not an image"},
		"openai: too large": {"/v1/chat/completions", huge, key, 413, `"code":"request_too_large"`},
		"openai: no key":    {"/v1/chat/completions", question + `}`, nil, 401, `"code":"invalid_api_key"`},
		"openai: a page": {"/v1/chat/completions", question + `}`, append(key, "Origin", "https://example.org"),
			403, `"error":`},
		"openai: a name": {"/v1/chat/completions", question + `}`, append(key, "Host", "evil.example"), 421,
			`"error":`},
		"openai: nothing there": {"/v1/files", `{}`, key, 404, `"error":{"message"`},
		"openai: unknown fields": {"/v1/chat/completions", question + `,"max_tokens":1,"service_tier":"auto","user":"me"}`,
			key, 200, `"length"`},
		"ollama: bad JSON":     {"/api/chat", `{`, key, 400, `{"error":"`},
		"ollama: no model":     {"/api/chat", `{"model":"llama3"}`, key, 404, `{"error":"`},
		"ollama: too large":    {"/api/chat", huge, key, 413, `{"error":"`},
		"ollama: no key":       {"/api/chat", asked + `}`, nil, 401, `{"error":"`},
		"anthropic: bad JSON":  {"/v1/messages", `{`, key, 400, `{"type":"error","error":{"type":"invalid_request_error"`},
		"anthropic: no model":  {"/v1/messages", `{"model":"claude"}`, key, 404, `"type":"not_found_error"`},
		"anthropic: no bound":  {"/v1/messages", question + `}`, key, 400, `max_tokens: Field required`},
		"anthropic: too large": {"/v1/messages", huge, key, 413, `"type":"request_too_large"`},
		"anthropic: no key": {"/v1/messages", `{}`, []string{"X-Api-Key", "three"}, 401,
			`"type":"authentication_error"`},
		"anthropic: with a key": {"/v1/messages", question + `,"max_tokens":1}`, []string{"X-Api-Key", "one"}, 200,
			`"max_tokens"`},
	} {
		t.Run(name, func(t *testing.T) {
			status, body := post(t, web.URL+tt.path, tt.body, tt.headers...)
			if status != tt.status || !strings.Contains(body, tt.want) {
				t.Errorf("%d %.300s, want %d with %s", status, body, tt.status, tt.want)
			}
		})
	}
	t.Run("a long prompt", func(t *testing.T) {
		web, _ := serving(t, func(o *Options) { o.Models.Open.Context = 100 })
		ask := strings.Replace(question, "What is", long, 1)
		status, body := post(t, web.URL+"/v1/chat/completions", ask+`}`)
		if status != 400 || !strings.Contains(body, `"code":"context_length_exceeded"`) {
			t.Errorf("openai: %d %.300s", status, body)
		}
		status, body = post(t, web.URL+"/v1/messages", ask+`,"max_tokens":5}`)
		if status != 400 || !strings.Contains(body, `"invalid_request_error"`) {
			t.Errorf("anthropic: %d %.300s", status, body)
		}
		turns := strings.Repeat(`{"role":"user","content":"Hello there, how are you?"},{"role":"assistant",`+
			`"content":"Fine."},`, 20)
		status, body = post(t, web.URL+"/api/chat", strings.Replace(asked, `"messages":[`, `"messages":[`+turns,
			1)+`,"stream":false}`)
		if status != 200 || !strings.Contains(body, "Paris") {
			t.Errorf("ollama leaves out the oldest turns: %d %.300s", status, body)
		}
	})
}

func TestHealthNeedsNoKey(t *testing.T) {
	web, s := serving(t, func(o *Options) { o.Keys = []string{"one"} })
	if status, body := ask(t, "GET", web.URL+"/health", ""); status != 200 || !strings.Contains(body, "ok") {
		t.Errorf("%d %s", status, body)
	}
	if status, _ := ask(t, "GET", web.URL+"/metrics", ""); status != 401 {
		t.Errorf("metrics: %d", status)
	}
	s.Stop()
	if status, _ := ask(t, "GET", web.URL+"/health", ""); status != 503 {
		t.Errorf("stopping: %d", status)
	}
	if status, body := post(t, web.URL+"/v1/chat/completions", question+`}`, "X-Api-Key", "one"); status != 503 {
		t.Errorf("a request to a stopping server: %d %s", status, body)
	}
}

func TestPreflight(t *testing.T) {
	web, _ := serving(t, func(o *Options) { o.Origins = []string{"https://chat.example"} })
	for origin, want := range map[string]string{
		"https://chat.example": "https://chat.example", "http://localhost:3000": "http://localhost:3000",
		"https://other.example": "",
	} {
		r, _ := http.NewRequest("OPTIONS", web.URL+"/v1/chat/completions", nil)
		r.Header.Set("Origin", origin)
		r.Header.Set("Access-Control-Request-Headers", "authorization,x-stainless-os")
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if got := answer.Header.Get("Access-Control-Allow-Origin"); got != want {
			t.Errorf("%s: allowed %q", origin, got)
		}
		if want != "" && !strings.Contains(answer.Header.Get("Access-Control-Allow-Headers"), "x-stainless-os") {
			t.Errorf("%s: headers %v", origin, answer.Header)
		}
	}
}

// story asks for an answer that only the context ends.
const story = `{"model":"nano","seed":1,"messages":[{"role":"user","content":"Tell me a story"}],"stream":true,
	"response_format":{"type":"json_schema","json_schema":{"schema":{"type":"array","items":{"type":"string",
		"maxLength":3},
	"minItems":2000}}}`

// leave begins an answer without an end, and goes away after its first piece.
func leave(t *testing.T, url string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, _ := http.NewRequestWithContext(ctx, "POST", url+"/v1/chat/completions", strings.NewReader(story+`}`))
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if _, err := answer.Body.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
}

// idle waits until nothing is under way.
func idle(t *testing.T, s *Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := s.Idle(ctx); err != nil {
		t.Fatal("an answer goes on")
	}
}

// TestClientsThatLeave: whoever goes away, also by half, costs nothing more.
func TestClientsThatLeave(t *testing.T) {
	web, s := serving(t, nil)
	leave(t, web.URL)
	idle(t, s)
	conn, err := net.Dial("tcp", web.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s",
		len(story)+1,
		story+"}")
	if _, err := conn.Read(make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	idle(t, s)
	if _, body := post(t, web.URL+"/v1/chat/completions", question+`}`); !strings.Contains(body, "Paris") {
		t.Errorf("afterwards: %s", body)
	}
}

func TestTimeLimit(t *testing.T) {
	web, _ := serving(t, func(o *Options) { o.MostTime = 300 * time.Millisecond; o.Models.Open.Context = 4096 })
	status, body := post(t, web.URL+"/v1/chat/completions", strings.Replace(story, `"stream":true`, `"stream":false`,
		1)+`}`)
	if status != 504 || !strings.Contains(body, "longer than this server allows") {
		t.Errorf("%d %.300s", status, body)
	}
}

// TestFullQueue: with one answer under way and one request waiting, a third is told to come back.
func TestFullQueue(t *testing.T) {
	web, s := serving(t, func(o *Options) { o.Models.Answers.Waiting = 1 })
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	for i := range 2 {
		all.Go(func() {
			r, _ := http.NewRequestWithContext(ctx, "POST", web.URL+"/v1/chat/completions", strings.NewReader(story+`}`))
			if answer, err := http.DefaultClient.Do(r); err == nil {
				_, _ = io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
			}
		})
		for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			running := s.library.Running()
			if len(running) == 1 && running[0].Active+running[0].Waiting == i+1 {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("request %d did not come: %v", i, running)
			}
		}
	}
	for path, want := range map[string]int{"/v1/chat/completions": 429, "/api/chat": 503, "/v1/messages": 429} {
		if status, body := post(t, web.URL+path, question+`,"max_tokens":5}`); status != want {
			t.Errorf("%s: %d %s, want %d", path, status, body, want)
		}
	}
	cancel()
	all.Wait()
	idle(t, s)
}

// TestPrefix: a conversation that goes on computes only what is new, also when another came between; elsewhere sliding
// windows make the whole prompt be computed anew (llama.cpp 21468).
func TestPrefix(t *testing.T) {
	web, _ := serving(t, nil)
	turn := func(messages string) (string, float64, float64) {
		_, body := post(t, web.URL+"/v1/chat/completions", `{"model":"nano","temperature":0,"messages":[`+messages+`]}`)
		o := object(t, body)
		return at(o, "choices", 0, "message", "content").(string), at(o, "usage", "prompt_tokens").(float64),
			at(o, "usage", "prompt_tokens_details", "cached_tokens").(float64)
	}
	one := `{"role":"user","content":"What is the capital of France?"}`
	answer, _, _ := turn(one)
	turn(`{"role":"user","content":"What is two plus two?"}`)
	one += fmt.Sprintf(`,{"role":"assistant","content":%q},{"role":"user","content":"And of Sweden?"}`, answer)
	_, prompt, cached := turn(one)
	if cached < prompt/2 || cached >= prompt {
		t.Errorf("%v of %v tokens were cached", cached, prompt)
	}
}

// TestNoPromptInLogs: what was said is nobody's business but its speaker's.
func TestNoPromptInLogs(t *testing.T) {
	var logged bytes.Buffer
	var alone sync.Mutex
	web, _ := serving(t, func(o *Options) {
		o.Log = slog.New(slog.NewJSONHandler(lockedWriter{&alone, &logged}, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	post(t, web.URL+"/v1/chat/completions", strings.Replace(question, "France", "Xanadu", 1)+`}`)
	post(t, web.URL+"/v1/chat/completions", strings.Replace(question, "France", "Xanadu", 1)+`,"top_p":9}`)
	alone.Lock()
	defer alone.Unlock()
	if text := logged.String(); strings.Contains(text, "Xanadu") || !strings.Contains(text, `"status":400`) {
		t.Errorf("%s", text)
	}
}

type lockedWriter struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

func TestMetrics(t *testing.T) {
	web, _ := serving(t, nil)
	post(t, web.URL+"/v1/chat/completions", question+`}`)
	_, body := ask(t, "GET", web.URL+"/metrics", "")
	for _, want := range []string{
		`gemwire_answers_total{model="nano",reason="stop"} 1`, `gemwire_tokens_generated_total{model="nano"} 7`,
		`gemwire_http_requests_total{api="openai",status="200"} 1`, "gemwire_requests_waiting 0", "gemwire_models_open 1",
		`gemwire_time_to_first_token_seconds_bucket{model="nano",le="+Inf"} 1`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
}

// TestModelsComeAndGo: an unused model closes in time, and makes room for another.
func TestModelsComeAndGo(t *testing.T) {
	source := nano.Source()
	content := make([]byte, source.Size())
	if _, err := source.ReadAt(content, 0); err != nil {
		t.Fatal(err)
	}
	file := writeModel(t, content)
	web, s := serving(t, func(o *Options) { o.Models.MostOpen = 1; o.Models.Files = []string{file} })
	chat := func(model, more string) {
		t.Helper()
		status, body := post(t, web.URL+"/api/chat", strings.Replace(asked, "nano", model, 1)+`,"stream":false`+more+`}`)
		if status != 200 || !strings.Contains(body, "Paris") {
			t.Errorf("%s: %d %s", model, status, body)
		}
	}
	open := func() string {
		var names []string
		for _, r := range s.library.Running() {
			names = append(names, r.Entry.Name)
		}
		return strings.Join(names, " ")
	}
	chat("nano", "")
	if open() != "nano" {
		t.Errorf("open: %s", open())
	}
	chat("other", `,"keep_alive":"1h"`)
	if open() != "other" {
		t.Errorf("open: %s, with room for one", open())
	}
	var both sync.WaitGroup
	for _, name := range []string{"nano", "other", "nano", "other"} {
		both.Go(func() { chat(name, "") })
	}
	both.Wait()
	chat("nano", `,"keep_alive":0`)
	if open() != "" {
		t.Errorf("open: %s, and none was to stay", open())
	}
	chat("nano", `,"keep_alive":0.05`)
	for deadline := time.Now().Add(10 * time.Second); open() != "" && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	if open() != "" {
		t.Errorf("open: %s after its time", open())
	}
}

// TestManyAtOnce: answers that are made together are those that are made alone, with forms, tools and media among them.
func TestManyAtOnce(t *testing.T) {
	alone, _ := serving(t, nil)
	together, s := serving(t, func(o *Options) { o.Models.Answers.Parallel = 4 })
	bodies := []string{
		question + `}`,
		`{"model":"nano","temperature":0,"messages":[{"role":"user","content":"What is the opposite of hot?"}]}`,
		question + `,"response_format":{"type":"json_schema","json_schema":{"schema":{"enum":["Paris","Rome"]}}}}`,
		question + `,"tools":[` + other + `],"tool_choice":"required","parallel_tool_calls":false,"max_tokens":60}`,
		question + `,"reasoning_effort":"high","max_tokens":80}`,
		`{"model":"nano","temperature":1.2,"seed":5,"max_tokens":30,"messages":[{"role":"user","content":"Tell me ` +
			`a story"}]}`,
	}
	var all sync.WaitGroup
	for round := range 2 {
		for i, body := range bodies {
			_, want := post(t, alone.URL+"/v1/chat/completions", body)
			all.Go(func() {
				_, got := post(t, together.URL+"/v1/chat/completions", body)
				for _, path := range []string{"content", "reasoning_content"} {
					a, b := at(object(t, want), "choices", 0, "message", path), at(object(t, got), "choices", 0, "message", path)
					if a != b {
						t.Errorf("round %d, request %d: %v together, %v alone: %.300s", round, i, b, a, got)
					}
				}
			})
		}
		all.Go(func() { leave(t, together.URL) })
	}
	all.Wait()
	idle(t, s)
}

// A text that cannot fit, however it is cut into tokens, is refused before it is.
func TestTextThatCannotFit(t *testing.T) {
	web, _ := serving(t, func(*Options) {})
	text := strings.Repeat("a ", 4<<20)
	for path, body := range map[string]string{
		"/v1/chat/completions": `{"model":"nano","messages":[{"role":"user","content":"` + text + `"}]}`,
		"/v1/completions":      `{"model":"nano","prompt":"` + text + `"}`,
	} {
		status, got := post(t, web.URL+path, body)
		if status != 400 || !strings.Contains(got, "context_length_exceeded") {
			t.Errorf("%s: %d %.300s", path, status, got)
		}
	}
}

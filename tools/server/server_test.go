package server

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/tools/server/models"
)

// serving starts a server with the built-in model on the CPU.
func serving(t testing.TB, change func(*Options)) (*httptest.Server, *Server) {
	t.Helper()
	root := t.TempDir()
	o := Options{
		Version: "test",
		Models: models.Options{
			Getenv: func(name string) string {
				return map[string]string{
					"GEMWIRE_MODELS": filepath.Join(root, "models"), "OLLAMA_MODELS": filepath.Join(root, "none"),
				}[name]
			},
			Open: gemma4.OpenOptions{Device: gemma4.DeviceCPU, Context: 2048},
		},
	}
	o.Models.Answers.Waiting = 100
	t.Setenv("OLLAMA_MODELS", filepath.Join(root, "none"))
	if change != nil {
		change(&o)
	}
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s)
	t.Cleanup(func() {
		web.Close()
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return web, s
}

// post sends JSON and returns the status and the body.
func post(t testing.TB, url, body string, headers ...string) (int, string) {
	t.Helper()
	return ask(t, http.MethodPost, url, body, headers...)
}

func ask(t testing.TB, method, url, body string, headers ...string) (int, string) {
	t.Helper()
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	if host := r.Header.Get("Host"); host != "" {
		r.Host = host
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(raw)
}

// object reads a body of JSON.
func object(t testing.TB, body string) map[string]any {
	t.Helper()
	var o map[string]any
	d := json.NewDecoder(strings.NewReader(body))
	if err := d.Decode(&o); err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return o
}

// at is a value inside another: at(o, "choices", 0, "message").
func at(v any, path ...any) any {
	for _, step := range path {
		switch s := step.(type) {
		case string:
			o, _ := v.(map[string]any)
			v = o[s]
		case int:
			list, _ := v.([]any)
			if s >= len(list) {
				return nil
			}
			v = list[s]
		}
	}
	return v
}

// data are the events of a stream without names.
func data(t testing.TB, body string) (list []map[string]any, done bool) {
	t.Helper()
	lines := bufio.NewScanner(bytes.NewReader([]byte(body)))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		text, ok := strings.CutPrefix(lines.Text(), "data: ")
		switch {
		case text == "[DONE]":
			done = true
		case ok:
			list = append(list, object(t, text))
		}
	}
	return list, done
}

const (
	question = `{"model":"nano","temperature":0,"messages":[{"role":"user","content":"What is the capital of France?"}]`
	paris    = "The capital of France is Paris."
)

func TestOpenAIChat(t *testing.T) {
	web, _ := serving(t, nil)
	status, body := post(t, web.URL+"/v1/chat/completions", question+`}`)
	o := object(t, body)
	if got := at(o, "choices", 0, "message", "content"); status != 200 || got != paris {
		t.Fatalf("%d %s", status, body)
	}
	if at(o, "choices", 0, "finish_reason") != "stop" || at(o, "object") != "chat.completion" {
		t.Errorf("%s", body)
	}
	usage := o["usage"].(map[string]any)
	if usage["prompt_tokens"].(float64)+usage["completion_tokens"].(float64) != usage["total_tokens"] {
		t.Errorf("usage %v", usage)
	}
	_, body = post(t, web.URL+"/v1/chat/completions", question+`,"stream":true,"stream_options":{"include_usage":true}}`)
	chunks, done := data(t, body)
	text := ""
	for _, c := range chunks {
		if piece, ok := at(c, "choices", 0, "delta", "content").(string); ok {
			text += piece
		}
	}
	last := chunks[len(chunks)-1]
	if text != paris || !done || len(last["choices"].([]any)) != 0 || at(last, "usage", "total_tokens") == nil {
		t.Errorf("streamed %q, done %v: %s", text, done, body)
	}
	if at(chunks[0], "choices", 0, "delta", "role") != "assistant" {
		t.Errorf("first %v", chunks[0])
	}
}

func writeModel(t testing.TB, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "other.gguf")
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

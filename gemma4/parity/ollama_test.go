package parity_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/parity"
	"github.com/gemwire/gemwire/gguf"
)

const nanoGGUF = "../../testdata/conformance/nano/nano.gguf"

func nanoSession(t *testing.T) *gemma4.Session {
	t.Helper()
	source, err := gguf.OpenFile(nanoGGUF)
	if err != nil {
		t.Fatal(err)
	}
	m, err := gemma4.Open(context.Background(), source, gemma4.OpenOptions{Device: gemma4.DeviceCPU, Context: 256})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	s, err := m.NewSession(0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// ollama answers /api/generate with a status and a body.
func ollama(t *testing.T, status int, body string, asked *map[string]any) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/generate" || r.Method != http.MethodPost {
			t.Errorf("%s %s", r.Method, r.URL)
		}
		if asked != nil {
			if err := json.NewDecoder(r.Body).Decode(asked); err != nil {
				t.Error(err)
			}
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body)) // the client may have left
	}))
	t.Cleanup(server.Close)
	return server.URL
}

func reply(text string) string {
	raw, _ := json.Marshal(map[string]any{"response": text, "done": true})
	return string(raw)
}

func compare(t *testing.T, s *gemma4.Session, url string) (checks []parity.Check, err error) {
	t.Helper()
	o := parity.Ollama{URL: url, Model: "gemma4:nano", Tokens: 20}
	for check, err := range o.Compare(context.Background(), s, []string{"What is the capital of France?"}) {
		if err != nil {
			return checks, err
		}
		checks = append(checks, check)
	}
	return checks, nil
}

func TestOllama(t *testing.T) {
	s := nanoSession(t)
	const answer = "The capital of France is Paris."
	for _, c := range []struct {
		name, answer string
		passes       bool
		detail       string
	}{
		{"the same", answer, true, ""},
		{"another word", strings.Replace(answer, "Paris", "Rome", 1), false, "Ollama continues with \" Rome"},
		{"shorter", "The capital of", false, "Ollama continues with \"\""},
		{"longer", answer + " And more", false, "\" And more\""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var asked map[string]any
			checks, err := compare(t, s, ollama(t, http.StatusOK, reply(c.answer), &asked))
			if err != nil {
				t.Fatal(err)
			}
			if len(checks) != 1 || checks[0].Passed != c.passes || !strings.Contains(checks[0].Detail, c.detail) {
				t.Errorf("%+v", checks)
			}
			options, _ := asked["options"].(map[string]any)
			if asked["raw"] != true || asked["stream"] != false || options["temperature"] != 0.0 ||
				options["num_predict"] != 20.0 {
				t.Errorf("asked %v", asked)
			}
			if prompt, _ := asked["prompt"].(string); !strings.HasPrefix(prompt, "<|turn>user\nWhat is") {
				t.Errorf("prompt %q: it begins where Ollama's own <bos> ends", prompt)
			}
		})
	}
}

func TestOllamaRefuses(t *testing.T) {
	s := nanoSession(t)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for _, c := range []struct{ name, url, says string }{
		{"no such model", ollama(t, http.StatusNotFound, `{"error":"model 'gemma4:nano' not found"}`, nil),
			"model 'gemma4:nano' not found"},
		{"no JSON", ollama(t, http.StatusOK, "<html>", nil), "something else"},
		{"not done", ollama(t, http.StatusOK, `{"response":"The"}`, nil), "something else"},
		{"broken", ollama(t, http.StatusBadGateway, "", nil), "502"},
		{"not running", gone.URL, "ollama serve"},
		{"no address", "http://%zz", "invalid URL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := compare(t, s, c.url)
			if !errors.Is(err, parity.ErrOllama) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, wanted one that says %q", err, c.says)
			}
		})
	}
}

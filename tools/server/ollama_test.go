package server

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gemwire/gemwire/gemma4/nano"
)

// lines reads a stream of lines of JSON.
func lines(t *testing.T, body string) (list []map[string]any) {
	t.Helper()
	for line := range strings.SplitSeq(strings.TrimSpace(body), "\n") {
		list = append(list, object(t, line))
	}
	return list
}

const asked = `{"model":"nano","options":{"temperature":0},"messages":[{"role":"user","content":"What is the capital ` +
	`of France?"}]`

func TestOllamaChat(t *testing.T) {
	web, _ := serving(t, nil)
	status, body := post(t, web.URL+"/api/chat", asked+`}`)
	text := ""
	all := lines(t, body)
	for _, l := range all {
		text += at(l, "message", "content").(string)
	}
	last := all[len(all)-1]
	if status != 200 || text != paris || last["done"] != true || last["done_reason"] != "stop" {
		t.Errorf("%d %s", status, body)
	}
	for _, count := range []string{"total_duration", "load_duration", "prompt_eval_count", "prompt_eval_duration",
		"eval_count", "eval_duration"} {
		if n, ok := last[count].(float64); !ok || n <= 0 {
			t.Errorf("%s is %v", count, last[count])
		}
		if all[0][count] != nil {
			t.Errorf("the first line has %s", count)
		}
	}
	_, body = post(t, web.URL+"/api/chat", asked+`,"stream":false,"logprobs":true}`)
	if o := object(t, body); at(o, "message", "content") != paris || at(o, "logprobs", 0, "token") != "The" {
		t.Errorf("%s", body)
	}
}

// TestThinkAndFormat: think: false keeps the format, and think: true has it behind the thought (Ollama 15260, 8063).
func TestThinkAndFormat(t *testing.T) {
	web, _ := serving(t, nil)
	for _, think := range []string{"false", "true", `"low"`} {
		_, body := post(t, web.URL+"/api/chat", asked+`,"stream":false,"think":`+think+
			`,"format":{"type":"object","properties":{"city":{"enum":["Paris","Rome"]}},"required":["city"],`+
			`"additionalProperties":false}}`)
		content := at(object(t, body), "message", "content").(string)
		var answer struct{ City string }
		if err := json.Unmarshal([]byte(content), &answer); err != nil || answer.City == "" {
			t.Errorf("think %s: %v in %.300s", think, err, body)
		}
	}
}

func TestOllamaTools(t *testing.T) {
	web, _ := serving(t, nil)
	_, body := post(t, web.URL+"/api/chat", `{"model":"nano","stream":false,"options":{"temperature":0},
		"messages":[{"role":"user","content":"What is the weather in Paris?"}],"tools":[`+weather+`]}`)
	o := object(t, body)
	calls, _ := at(o, "message", "tool_calls").([]any)
	for _, c := range calls {
		if _, ok := at(c, "function", "arguments").(map[string]any); !ok {
			t.Errorf("arguments are no object: %s", body)
		}
	}
	status, body := post(t, web.URL+"/api/chat", `{"model":"nano","stream":false,"options":{"num_predict":10},"messages":[
		{"role":"user","content":"What is the weather in Paris?"},
		{"role":"assistant","content":"","tool_calls":[{"function":{"name":"get_weather","arguments":{"city":"Paris"}}}]},
		{"role":"tool","tool_name":"get_weather","content":"sunny"}],"tools":[`+weather+`]}`)
	if status != 200 {
		t.Errorf("with a result: %d %s", status, body)
	}
}

func TestOllamaGenerate(t *testing.T) {
	web, _ := serving(t, nil)
	generate := web.URL + "/api/generate"
	for name, tt := range map[string]struct {
		body   string
		status int
		want   string
	}{
		"a question": {`"prompt":"What is the capital of France?"`, 200, paris},
		"raw": {`"raw":true,"prompt":"<|turn>user\nWhat is the capital of France?<turn|>\n<|turn>model\n"`,
			200, paris},
		"loaded":          {`"prompt":""`, 200, `"done_reason":"load"`},
		"unloaded":        {`"prompt":"","keep_alive":0`, 200, `"done_reason":"unload"`},
		"a suffix":        {`"prompt":"a","suffix":"b"`, 400, "does not support insert"},
		"a template":      {`"prompt":"a","template":"{{ .Prompt }}"`, 400, "takes no template"},
		"a context":       {`"prompt":"a","context":[1,2]`, 400, "/api/chat"},
		"no format":       {`"prompt":"a","format":"yaml"`, 400, "JSON schema"},
		"a setting":       {`"prompt":"a","options":{"top_p":7}`, 400, "top-p is 7; wanted a number from 0 to 1"},
		"unknown options": {`"prompt":"What is the capital of France?","options":{"mirostat":2,"num_gpu":1}`, 200, paris},
	} {
		t.Run(name, func(t *testing.T) {
			options := `,"options":{"temperature":0}`
			if strings.Contains(tt.body, "options") {
				options = ""
			}
			status, body := post(t, generate, `{"model":"nano","stream":false,`+tt.body+options+`}`)
			if status != tt.status || name != "unknown options" && !strings.Contains(body, tt.want) {
				t.Errorf("%d %s, want %d with %s", status, body, tt.status, tt.want)
			}
		})
	}
}

const nanoCase = "../../testdata/conformance/nano/"

// TestMedia: the built-in model sees and hears in each API.
func TestMedia(t *testing.T) {
	web, _ := serving(t, nil)
	file := func(name string) string {
		raw, err := os.ReadFile(nanoCase + name)
		if err != nil {
			t.Fatal(err)
		}
		return base64.StdEncoding.EncodeToString(raw)
	}
	scene, speech := file("scene0.png"), file("speech0.wav")
	const see = "What shapes are in this picture?"
	answers := map[string]string{}
	for name, tt := range map[string]struct {
		path, body string
		at         []any
	}{
		"openai": {"/v1/chat/completions", `{"model":"nano","temperature":0,"messages":[{"role":"user","content":[
			{"type":"image_url","image_url":{"url":"data:image/png;base64,` + scene + `"}},
			{"type":"text","text":"` + see + `"}]}]}`, []any{"choices", 0, "message", "content"}},
		"ollama": {"/api/chat", `{"model":"nano","stream":false,"options":{"temperature":0},"messages":[{"role":"user",
			"content":"` + see + `","images":["` + scene + `"]}]}`, []any{"message", "content"}},
		"anthropic": {"/v1/messages", `{"model":"nano","max_tokens":60,"temperature":0,"messages":[{"role":"user","content":[
			{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + scene + `"}},
			{"type":"text","text":"` + see + `"}]}]}`, []any{"content", 0, "text"}},
		"responses": {"/v1/responses", `{"model":"nano","temperature":0,"input":[{"role":"user","content":[
			{"type":"input_image","image_url":"data:image/png;base64,` + scene + `"},
			{"type":"input_text","text":"` + see + `"}]}]}`, []any{"output", 0, "content", 0, "text"}},
	} {
		status, body := post(t, web.URL+tt.path, tt.body)
		answers[name], _ = at(object(t, body), tt.at...).(string)
		if status != 200 || answers[name] == "" || answers[name] != answers["openai"] && answers["openai"] != "" {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	_, body := post(t, web.URL+"/v1/chat/completions", `{"model":"nano","temperature":0,"messages":[{"role":"user",
		"content":[{"type":"input_audio","input_audio":{"data":"`+speech+`","format":"wav"}},{"type":"text","text":
		"What is said in this recording?"}]}]}`)
	if at(object(t, body), "choices", 0, "message", "content") == "" {
		t.Errorf("%s", body)
	}
	for _, address := range []string{"http://127.0.0.1/x.png", "file:///etc/passwd", "https://example.org/x.png"} {
		status, body := post(t, web.URL+"/v1/chat/completions", `{"model":"nano","messages":[{"role":"user","content":[
			{"type":"image_url","image_url":{"url":"`+address+`"}}]}]}`)
		if status != 400 || !strings.Contains(body, "data: URL") {
			t.Errorf("%s: %d %s", address, status, body)
		}
	}
}

// TestModels: models are made, copied, shown and deleted, and answer as their recipe says.
func TestModels(t *testing.T) {
	web, _ := serving(t, nil)
	step := func(method, path, body string, status int, want string) {
		t.Helper()
		got, answer := ask(t, method, web.URL+path, body)
		if got != status || !strings.Contains(answer, want) {
			t.Errorf("%s %s: %d %s, want %d with %s", path, body, got, answer, status, want)
		}
	}
	step("POST", "/api/create", `{"model":"parrot","modelfile":"FROM nano\nPARAMETER temperature 0\nPARAMETER stop \" `+
		`is\"\nSYSTEM \"\"\"Be\nbrief.\"\"\""}`,
		200, `"status":"success"`)
	step("POST", "/api/show", `{"model":"parrot"}`, 200, `"system":"Be\nbrief."`)
	step("POST", "/api/chat", `{"model":"parrot","stream":false,"options":{"num_predict":40},"messages":[{"role":"user",`+
		`"content":"What is the capital of France?"}]}`,
		200, `"done_reason":"stop"`)
	step("POST", "/api/copy", `{"source":"parrot","destination":"me/parrot:v2"}`, 200, "")
	step("GET", "/api/tags", "", 200, `"me/parrot:v2"`)
	step("GET", "/v1/models/me/parrot:v2", "", 200, `"owned_by":"me"`)
	step("GET", "/v1/models/me%2Fparrot:v2", "", 200, `"owned_by":"me"`)
	step("DELETE", "/api/delete", `{"model":"parrot"}`, 200, "")
	step("DELETE", "/api/delete", `{"model":"parrot"}`, 404, "not found")
	step("POST", "/api/show", `{"model":"me/parrot:v2"}`, 200, `"parent_model":"nano"`)
	step("DELETE", "/api/delete", `{"model":"nano"}`, 400, "built into gemwire")
	step("POST", "/api/create", `{"model":"nano","from":"nano"}`, 400, "was not created here")
	step("POST", "/api/create", `{"model":"x","from":"nowhere"}`, 404, "not found")
	step("POST", "/api/create", `{"model":"../x","from":"nano"}`, 400, `at byte 0: not a model name"`)
	step("POST", "/api/create", `{"model":"../x","from":"nano"}`, 400, `{"error":"\"../x\": its`)
	step("POST", "/api/create", `{"model":"x","from":"nano","parameters":{"temperature":"hot"}}`, 400,
		"temperature is hot")
	step("POST", "/api/create", `{"model":"x","from":"nano","files":{"a.gguf":"sha256:1"}}`, 400, "folder of models")
	step("POST", "/api/create", `{"model":"x","modelfile":"FROM nano\nADAPTER /etc/passwd"}`, 400, "does not have")
	step("POST", "/api/show", `{"model":"/etc/passwd"}`, 404, "not found")
	step("POST", "/api/pull", `{"model":"nano","stream":false}`, 200, "success")
	step("POST", "/api/pull", `{"model":"gemma4:e2b"}`, 400, "ollama pull")
	step("POST", "/api/pull", `{"model":"http://127.0.0.1:1/x.gguf","stream":false}`, 400, "not public")
	step("POST", "/api/push", `{"model":"nano"}`, 501, "push")
	step("POST", "/api/embed", `{"model":"nano","input":"x"}`, 400, "makes no embeddings")
}

// TestPullFromHuggingFace: a model is pulled, asked and deleted by its name there, as with Ollama's own server.
func TestPullFromHuggingFace(t *testing.T) {
	source := nano.Source()
	content := make([]byte, source.Size())
	if _, err := source.ReadAt(content, 0); err != nil {
		t.Fatal(err)
	}
	hub := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/api/models/o/gemma-GGUF/tree/main":
			_, _ = fmt.Fprintf(w, `[{"type":"file","path":"gemma-Q8_0.gguf","size":%d,"lfs":{"oid":"%x","size":%[1]d}}]`,
				len(content), sha256.Sum256(content))
		case "/o/gemma-GGUF/resolve/main/gemma-Q8_0.gguf":
			w.Header().Set("ETag", `"1"`)
			http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer hub.Close()
	web, _ := serving(t, func(o *Options) {
		before := o.Models.Getenv
		o.Models.Getenv = func(name string) string {
			if name == "HF_ENDPOINT" {
				return hub.URL
			}
			return before(name)
		}
	})
	status, body := post(t, web.URL+"/api/pull", `{"model":"hf.co/o/none"}`)
	if !strings.Contains(body, "not found; check the owner") {
		t.Errorf("%d %s", status, body)
	}
	status, body = post(t, web.URL+"/api/pull", `{"model":"hf.co/o/gemma-GGUF"}`)
	if all := lines(t, body); status != 200 || all[len(all)-1]["status"] != "success" ||
		!strings.Contains(body, "downloading gemma-Q8_0.gguf") {
		t.Fatalf("%d %s", status, body)
	}
	for _, name := range []string{"hf.co/o/gemma-GGUF", "hf.co/o/gemma-GGUF:latest", "hf.co/o/gemma-GGUF:q8_0"} {
		_, body = post(t, web.URL+"/api/chat", strings.Replace(asked, `"nano"`, `"`+name+`"`, 1)+`,"stream":false}`)
		if at(object(t, body), "message", "content") != paris {
			t.Errorf("%s: %s", name, body)
		}
	}
	answer, err := http.Get(web.URL + "/api/tags")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil || !strings.Contains(string(raw), `"hf.co/o/gemma-GGUF:Q8_0"`) {
		t.Errorf("tags: %s, %v", raw, err)
	}
	request, err := http.NewRequest(http.MethodDelete, web.URL+"/api/delete",
		strings.NewReader(`{"model":"hf.co/o/gemma-GGUF:Q8_0"}`))
	if err != nil {
		t.Fatal(err)
	}
	deleted, err := http.DefaultClient.Do(request)
	if err != nil || deleted.StatusCode != 200 {
		t.Errorf("delete: %v, %v", deleted, err)
	}
	if status, body = post(t, web.URL+"/api/show", `{"model":"hf.co/o/gemma-GGUF"}`); status != 404 {
		t.Errorf("%d %s", status, body)
	}
}

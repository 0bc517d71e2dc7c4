package server

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

const weather = `{"type":"function","function":{"name":"get_weather","description":"The weather in a city",
	"parameters":{"type":"object","properties":{"city":{"type":"string"},"day":{"type":"object","properties":
	{"name":{"enum":["today","tomorrow"]}},"required":["name"],"additionalProperties":false}},
	"required":["city","day"],"additionalProperties":false}}}`

const other = `{"type":"function","function":{"name":"add","parameters":{"type":"object","properties":
	{"a":{"type":"integer","minimum":0,"maximum":9}},"required":["a"]}}}`

// TestToolChoice: what is required is called, whatever the model would like, and with arguments that fit the nested
// schema (elsewhere it fails open, and nested schemas come malformed).
func TestToolChoice(t *testing.T) {
	web, _ := serving(t, nil)
	for _, tt := range []struct {
		choice, calls string
		parallel      bool
	}{
		{`"required"`, "get_weather add", false},
		{`{"type":"function","function":{"name":"add"}}`, "add", false},
		{`"none"`, "", true},
		{`"auto"`, "* get_weather add", true},
	} {
		t.Run(tt.choice, func(t *testing.T) {
			body := `{"model":"nano","seed":3,"temperature":1.5,"max_tokens":200,"messages":[{"role":"user","content":
				"Tell me a story"}],"tools":[` + weather + `,` + other + `],"tool_choice":` + tt.choice +
				`,"parallel_tool_calls":` + map[bool]string{true: "true", false: "false"}[tt.parallel]
			status, got := post(t, web.URL+"/v1/chat/completions", body+`}`)
			if status != 200 {
				t.Fatalf("%d %s", status, got)
			}
			o := object(t, got)
			checkCalls(t, o, tt.calls, tt.parallel)
			_, got = post(t, web.URL+"/v1/chat/completions", body+`,"stream":true}`)
			joined := joinCalls(t, got)
			whole, _ := at(o, "choices", 0, "message", "tool_calls").([]any)
			if len(joined) != len(whole) {
				t.Fatalf("%d calls as a stream, %d as a whole: %s", len(joined), len(whole), got)
			}
			for i, c := range joined {
				if c != at(whole[i], "function", "name").(string)+" "+at(whole[i], "function", "arguments").(string) {
					t.Errorf("call %d is %s as a stream", i, c)
				}
			}
		})
	}
}

func checkCalls(t *testing.T, o map[string]any, names string, parallel bool) {
	t.Helper()
	calls, _ := at(o, "choices", 0, "message", "tool_calls").([]any)
	reason := at(o, "choices", 0, "finish_reason")
	switch {
	case names == "" && len(calls) > 0:
		t.Errorf("calls %v", calls)
	case len(calls) == 0 && !strings.HasPrefix(names, "*") && names != "" && reason != "length":
		t.Errorf("no calls: %v", o)
	case len(calls) > 0 && reason != "tool_calls" && reason != "length":
		t.Errorf("finished by %v", reason)
	case len(calls) > 1 && !parallel:
		t.Errorf("%d calls", len(calls))
	}
	for _, c := range calls {
		name := at(c, "function", "name").(string)
		arguments := object(t, at(c, "function", "arguments").(string))
		if !strings.Contains(names, name) {
			t.Errorf("called %s", name)
		}
		if day := at(arguments, "day", "name"); name == "get_weather" && day != "today" && day != "tomorrow" {
			t.Errorf("arguments %v", arguments)
		}
	}
}

// joinCalls puts the calls of a stream together from their pieces.
func joinCalls(t *testing.T, body string) (list []string) {
	t.Helper()
	chunks, _ := data(t, body)
	for _, c := range chunks {
		calls, _ := at(c, "choices", 0, "delta", "tool_calls").([]any)
		for _, call := range calls {
			i := int(at(call, "index").(float64))
			for len(list) <= i {
				list = append(list, "")
			}
			if name, ok := at(call, "function", "name").(string); ok {
				list[i] += name + " "
			}
			list[i] += at(call, "function", "arguments").(string)
		}
	}
	return list
}

// TestResponseFormat: answers fit their schema, also with thoughts before them.
func TestResponseFormat(t *testing.T) {
	web, _ := serving(t, nil)
	schema := `{"type":"object","properties":{"city":{"type":"string","maxLength":20},"size":{"enum":["small","large"]}},
		"required":["city","size"],"additionalProperties":false}`
	for name, extra := range map[string]string{
		"schema": `"response_format":{"type":"json_schema","json_schema":{"name":"c","strict":true,"schema":` + schema + `}}`,
		"schema with thinking": `"reasoning_effort":"high","response_format":{"type":"json_schema",` +
			`"json_schema":{"name":"c",` +
			`"schema":` + schema + `}}`,
		"any object": `"response_format":{"type":"json_object"}`,
	} {
		t.Run(name, func(t *testing.T) {
			status, body := post(t, web.URL+"/v1/chat/completions", question+`,"seed":1,"max_tokens":300,`+extra+`}`)
			if status != 200 {
				t.Fatalf("%d %s", status, body)
			}
			o := object(t, body)
			content := at(o, "choices", 0, "message", "content").(string)
			if at(o, "choices", 0, "finish_reason") == "length" && name == "any object" {
				if !strings.HasPrefix(content, "{") { // nano does not know how to end what it makes up
					t.Errorf("%q", content)
				}
				return
			}
			var answer map[string]any
			if err := json.Unmarshal([]byte(content), &answer); err != nil {
				t.Fatalf("%v in %q", err, content)
			}
			if size := answer["size"]; strings.HasPrefix(name, "schema") && size != "small" && size != "large" {
				t.Errorf("%v", answer)
			}
		})
	}
}

// TestOtherResponseFormats: what OpenAI's API has no type for, as the npm package names it.
func TestOtherResponseFormats(t *testing.T) {
	web, _ := serving(t, nil)
	for form, want := range map[string]string{
		`{"type":"choice","choices":["Berlin","Rome"]}`:            `^(Berlin|Rome)$`,
		`{"type":"regex","regex":"[A-Z]{3}-[0-9]{2}"}`:             `^[A-Z]{3}-[0-9]{2}$`,
		`{"type":"grammar","grammar":"root ::= \"a\" [bc] \"d\""}`: `^a[bc]d$`,
	} {
		status, body := post(t, web.URL+"/v1/chat/completions", question+`,"seed":1,"response_format":`+form+`}`)
		if status != 200 {
			t.Fatalf("%s: %d %s", form, status, body)
		}
		content := at(object(t, body), "choices", 0, "message", "content").(string)
		if !regexp.MustCompile(want).MatchString(content) {
			t.Errorf("%s: %q", form, content)
		}
	}
	for form, says := range map[string]string{
		`{"type":"choice"}`: "choice has no choices", `{"type":"regex","regex":"("}`: "missing closing",
		`{"type":"grammar","grammar":""}`: "grammar has no grammar", `{"type":"xml"}`: "say text, json_object",
	} {
		status, body := post(t, web.URL+"/v1/chat/completions", question+`,"response_format":`+form+`}`)
		if status != 400 || !strings.Contains(body, says) {
			t.Errorf("%s: %d %s", form, status, body)
		}
	}
}

func TestSeveralAnswersAndLogProbs(t *testing.T) {
	web, _ := serving(t, nil)
	body := `{"model":"nano","temperature":1.3,"seed":7,"n":3,"max_tokens":20,"logprobs":true,"top_logprobs":2,` +
		`"messages":[{"role":"user","content":"Tell me a story"}]}`
	_, first := post(t, web.URL+"/v1/chat/completions", body)
	o := object(t, first)
	choices := o["choices"].([]any)
	if len(choices) != 3 {
		t.Fatalf("%d answers: %s", len(choices), first)
	}
	texts := map[any]bool{}
	for i, c := range choices {
		content := at(c, "message", "content").(string)
		texts[content] = true
		joined := ""
		for _, token := range at(c, "logprobs", "content").([]any) {
			joined += at(token, "token").(string)
			if top := at(token, "top_logprobs").([]any); len(top) != 2 || at(token, "logprob").(float64) > 0 {
				t.Errorf("token %v", token)
			}
		}
		if joined != content {
			t.Errorf("answer %d: tokens make %q, want %q", i, joined, content)
		}
	}
	if len(texts) < 2 {
		t.Errorf("seeds make the same: %v", texts)
	}
	_, second := post(t, web.URL+"/v1/chat/completions", body)
	for i := range choices {
		if a, b := at(choices[i], "message", "content"), at(object(t, second), "choices", i, "message", "content"); a != b {
			t.Errorf("the same seed: %q, then %q", a, b)
		}
	}
}

func TestStopBiasAndLimit(t *testing.T) {
	web, _ := serving(t, nil)
	chat := web.URL + "/v1/chat/completions"
	_, body := post(t, chat, question+`,"stop":[" of"]}`)
	if got := at(object(t, body), "choices", 0, "message", "content"); got != "The capital" {
		t.Errorf("stopped at %q", got)
	}
	_, body = post(t, chat, question+`,"max_completion_tokens":3}`)
	if o := object(t, body); at(o, "choices", 0, "finish_reason") != "length" ||
		at(o, "usage", "completion_tokens") != 3.0 {
		t.Errorf("bounded: %s", body)
	}
	// The first token of the usual answer is forbidden.
	_, body = post(t, chat, question+`,"logprobs":true,"max_tokens":1}`)
	if at(object(t, body), "choices", 0, "message", "content") != "The" {
		t.Fatalf("%s", body)
	}
	_, body = post(t, web.URL+"/v1/completions", `{"model":"nano","prompt":"The","logprobs":1,"max_tokens":1}`)
	if at(object(t, body), "choices", 0, "logprobs", "tokens", 0) == nil {
		t.Errorf("%s", body)
	}
}

func TestResponses(t *testing.T) {
	web, _ := serving(t, nil)
	input := `{"model":"nano","temperature":0,"instructions":"Be brief.","input":[{"role":"user","content":
		[{"type":"input_text","text":"What is the capital of France?"}]}]`
	_, whole := post(t, web.URL+"/v1/responses", input+`}`)
	text := at(object(t, whole), "output", 0, "content", 0, "text")
	status, body := post(t, web.URL+"/v1/responses", input+`,"stream":true}`)
	events, _ := data(t, body)
	var names []string
	joined := ""
	for i, e := range events {
		if e["sequence_number"] != float64(i) {
			t.Errorf("event %d is number %v", i, e["sequence_number"])
		}
		if e["type"] == "response.output_text.delta" {
			joined += e["delta"].(string)
			continue
		}
		names = append(names, strings.TrimPrefix(e["type"].(string), "response."))
	}
	if got, want := strings.Join(names, " "), "created in_progress output_item.added content_part.added "+
		"output_text.done content_part.done output_item.done completed"; got != want {
		t.Errorf("events %s", got)
	}
	last := events[len(events)-1]
	if status != 200 || joined != text || at(last, "response", "output", 0, "content", 0, "text") != text ||
		at(last, "response", "status") != "completed" || joined == "" {
		t.Errorf("streamed %q, as a whole %q", joined, text)
	}
	tools := `"tools":[{"type":"function","name":"add","parameters":{"type":"object","properties":{"a":{"enum":[1,2]}},
		"required":["a"],"additionalProperties":false}}]`
	_, body = post(t, web.URL+"/v1/responses", input+`,`+tools+`,"tool_choice":"required","parallel_tool_calls":false}`)
	call := at(object(t, body), "output", 0)
	if at(call, "type") != "function_call" || at(call, "name") != "add" {
		t.Fatalf("%s", body)
	}
	id, _ := json.Marshal(at(call, "call_id"))
	again := `{"model":"nano","temperature":0,"max_output_tokens":20,"input":[{"role":"user","content":"Add"},
		{"type":"function_call","call_id":` + string(id) + `,"name":"add","arguments":"{\"a\":1}"},
		{"type":"function_call_output","call_id":` + string(id) + `,"output":"2"}],` + tools + `}`
	if status, body := post(t, web.URL+"/v1/responses", again); status != 200 {
		t.Errorf("with a result: %d %s", status, body)
	}
	if status, body := post(t, web.URL+"/v1/responses",
		`{"model":"nano","previous_response_id":"resp_1","input":"x"}`); status != 400 ||
		!strings.Contains(body, "keeps no responses") {
		t.Errorf("a stored response: %d %s", status, body)
	}
}

// TestToolsWithFormat: with tools and a schema, an answer calls or fits the schema, as agents want it.
func TestToolsWithFormat(t *testing.T) {
	web, _ := serving(t, nil)
	both := `,"max_tokens":60,"tools":[` + other + `],"response_format":{"type":"json_schema","json_schema":{"schema":
		{"enum":["Paris","Rome"]}}}`
	_, body := post(t, web.URL+"/v1/chat/completions", question+both+`,"tool_choice":"none"}`)
	fits := func(content any) bool { return content == `"Paris"` || content == `"Rome"` }
	if got := at(object(t, body), "choices", 0, "message", "content"); !fits(got) {
		t.Errorf("%s", body)
	}
	_, body = post(t, web.URL+"/v1/chat/completions", question+both+`}`)
	message := at(object(t, body), "choices", 0, "message")
	if at(message, "tool_calls", 0, "function", "name") != "add" && !fits(at(message, "content")) {
		t.Errorf("%s", body)
	}
	_, body = post(t, web.URL+"/v1/chat/completions", question+both+`,"tool_choice":"required"}`)
	if at(object(t, body), "choices", 0, "message", "tool_calls", 0, "function", "name") != "add" {
		t.Errorf("%s", body)
	}
}

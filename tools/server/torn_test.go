package server

import (
	"fmt"
	"strings"
	"testing"
)

// A call that the limit of tokens cuts is no part of what an answer says, as a whole and in a stream, and the answer is
// said to be cut.
func TestTornCalls(t *testing.T) {
	web, _ := serving(t, nil)
	const asks = `{"role":"user","content":"What is the weather in Paris?"}]`
	const declared = `"parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}`
	const function = `{"type":"function","function":{"name":"get_weather",` + declared + `}`
	for path, c := range map[string]struct{ body, cut string }{
		"/v1/chat/completions": {`"temperature":0,"max_tokens":4,"tool_choice":"required","messages":[` + asks +
			`,"tools":[` + function + `]`, `"finish_reason":"length"`},
		"/v1/responses": {`"temperature":0,"max_output_tokens":4,"tool_choice":"required","input":[` + asks +
			`,"tools":[{"type":"function","name":"get_weather",` + declared + `]`, `"status":"incomplete"`},
		"/v1/messages": {`"temperature":0,"max_tokens":4,"tool_choice":{"type":"any"},"messages":[` + asks +
			`,"tools":[{"name":"get_weather","input_schema":{"type":"object","properties":{"city":{"type":"string"}},` +
			`"required":["city"]}}]`, `"stop_reason":"max_tokens"`},
		"/api/chat": {`"options":{"temperature":0,"num_predict":4},"messages":[` + asks + `,"tools":[` + function + `]`,
			`"done_reason":"length"`},
	} {
		for _, stream := range []bool{false, true} {
			status, body := post(t, web.URL+path, fmt.Sprintf(`{"model":"nano","stream":%v,%s}`, stream, c.body))
			if said, _, _ := strings.Cut(body, `"tools":`); status != 200 || !strings.Contains(body, c.cut) ||
				strings.Contains(said, "call:") {
				t.Errorf("%s, stream %v: %d %s", path, stream, status, body)
			}
		}
	}
}

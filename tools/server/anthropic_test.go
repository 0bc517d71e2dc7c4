package server

import (
	"strings"
	"testing"
)

func TestAnthropic(t *testing.T) {
	web, _ := serving(t, nil)
	messages := web.URL + "/v1/messages"
	ask := `{"model":"nano","max_tokens":60,"temperature":0,"system":[{"type":"text","text":"Be brief."}],"messages":[
		{"role":"user","content":"What is the capital of France?"}]`
	status, body := post(t, messages, ask+`}`)
	o := object(t, body)
	text := at(o, "content", 0, "text")
	if status != 200 || text == "" || o["stop_reason"] != "end_turn" || o["type"] != "message" {
		t.Fatalf("%d %s", status, body)
	}
	_, stream := post(t, messages, ask+`,"stream":true}`)
	events, _ := data(t, stream)
	var names []string
	joined := ""
	for _, e := range events {
		name := e["type"].(string)
		if !strings.Contains(stream, "event: "+name+"\n") {
			t.Errorf("no event %s", name)
		}
		if name == "content_block_delta" {
			joined += at(e, "delta", "text").(string)
			continue
		}
		names = append(names, name)
	}
	if got := strings.Join(names, " "); joined != text ||
		got != "message_start ping content_block_start content_block_stop message_delta message_stop" {
		t.Errorf("%q by %s", joined, got)
	}
	_, count := post(t, messages+"/count_tokens", ask+`}`)
	if n := object(t, count)["input_tokens"]; n != at(events[0], "message", "usage", "input_tokens") || n.(float64) < 10 {
		t.Errorf("counted %s, streamed %v", count, events[0])
	}
}

func TestAnthropicTools(t *testing.T) {
	web, _ := serving(t, nil)
	messages := web.URL + "/v1/messages"
	tools := `"tools":[{"name":"add","input_schema":{"type":"object","properties":{"a":{"enum":[1,2]}},"required":["a"],
		"additionalProperties":false}}]`
	ask := `{"model":"nano","max_tokens":100,"messages":[{"role":"user","content":"Add"}],` + tools +
		`,"tool_choice":{"type":"tool","name":"add","disable_parallel_tool_use":true}`
	_, body := post(t, messages, ask+`}`)
	o := object(t, body)
	if a := at(o, "content", 0, "input", "a"); o["stop_reason"] != "tool_use" || a != 1.0 && a != 2.0 {
		t.Fatalf("%s", body)
	}
	_, stream := post(t, messages, ask+`,"stream":true}`)
	if !strings.Contains(stream, `"partial_json":"{\"a\":`) || !strings.Contains(stream, `"stop_reason":"tool_use"`) {
		t.Errorf("%s", stream)
	}
	status, body := post(t, messages, `{"model":"nano","max_tokens":20,`+tools+`,"messages":[
		{"role":"user","content":"Add"},
		{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"x"},
			{"type":"tool_use","id":"t1","name":"add","input":{"a":1}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"2"}]},
			{"type":"text","text":"And now?"}]}]}`)
	if status != 200 {
		t.Errorf("%d %s", status, body)
	}
}

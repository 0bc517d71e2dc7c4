package server

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
)

// TestAnswersOfNothing: where the model ends its turn before a word, each API has an answer that is whole and empty,
// also as a stream, and the log has a line for each.
func TestAnswersOfNothing(t *testing.T) {
	var logged bytes.Buffer
	var alone sync.Mutex
	web, _ := serving(t, func(o *Options) {
		o.Log = slog.New(slog.NewTextHandler(lockedWriter{&alone, &logged}, nil))
	})
	const turnEnd = "6"
	post(t, web.URL+"/api/create", `{"model":"mute","from":"nano","parameters":{"logit_bias":"`+turnEnd+`=100"}}`)
	const ask = `{"model":"mute","max_tokens":20,"prompt":"Hi","input":"Hi","messages":[{"role":"user","content":"Hi"}],` +
		`"stream":`
	for _, tt := range []struct{ path, whole, streamed string }{
		{"/api/chat", `"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"`,
			`"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"`},
		{"/api/generate", `"response":"","done":true,"done_reason":"stop"`, `"response":"","done":true,"done_reason":"stop"`},
		{"/v1/chat/completions", `"message":{"role":"assistant","content":""},"logprobs":null,"finish_reason":"stop"`,
			`"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}|` +
				`"delta":{"content":null},"logprobs":null,"finish_reason":"stop"}|data: [DONE]`},
		{"/v1/completions", `"text":"","index":0,"logprobs":null,"finish_reason":"stop"`,
			`"text":"","index":0,"logprobs":null,"finish_reason":"stop"|data: [DONE]`},
		{"/v1/responses", `"status":"completed","role":"assistant","content":[{"type":"output_text","text":"",`,
			`event: response.output_item.added|event: response.content_part.added|event: response.output_text.done|` +
				`event: response.content_part.done|event: response.output_item.done|event: response.completed`},
		{"/v1/messages", `"content":[],"stop_reason":"end_turn"`,
			`event: message_start|event: ping|event: message_delta|"stop_reason":"end_turn"|event: message_stop`},
	} {
		_, whole := post(t, web.URL+tt.path, ask+"false}")
		_, streamed := post(t, web.URL+tt.path, ask+"true}")
		if !inOrder(whole, tt.whole) || !inOrder(streamed, tt.streamed) || strings.Contains(streamed, "block_start") {
			t.Errorf("%s: %s\nas a stream: %s", tt.path, whole, streamed)
		}
	}
	for _, other := range []string{``, `,"stop":["The"]`, `,"max_tokens":1`} { // what says something, or is cut
		post(t, web.URL+"/v1/chat/completions", question+other+`}`)
	}
	alone.Lock()
	defer alone.Unlock()
	if n := strings.Count(logged.String(), "ended its answer without a word"); n != 12 ||
		strings.Contains(logged.String(), "a word\" model=nano") {
		t.Errorf("%d lines: %s", n, logged.String())
	}
}

// inOrder tells whether a text has all of some parts, which | divides, one behind another.
func inOrder(text, parts string) bool {
	for part := range strings.SplitSeq(parts, "|") {
		_, after, found := strings.Cut(text, part)
		if !found {
			return false
		}
		text = after
	}
	return true
}

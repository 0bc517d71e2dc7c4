package anthropic

import (
	"encoding/json"
	"net/http"

	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/tools/server/answer"
	"github.com/gemwire/gemwire/tools/server/wire"
)

// streaming sends a message as it comes, block by block.
type streaming struct {
	*built
	s     *wire.Stream
	index int       // of the block that goes on, or of the next
	open  chat.Kind // what it holds; 0 where none goes on
}

func (m *built) stream(s *wire.Stream, w http.ResponseWriter, events events) {
	t := &streaming{built: m, s: s}
	begun := false
	for e, err := range events {
		if err != nil {
			if s.Begun() {
				_ = s.Event("error", newError(err)) // a client that is gone needs no answer
				return
			}
			Refuse(w, err)
			return
		}
		if !begun {
			begun = true
			if !t.start() {
				return
			}
		}
		if !t.send(e) {
			return
		}
	}
}

// start tells that a message comes, to a prompt of so many tokens. How many of them were cached is told at the end.
func (t *streaming) start() bool {
	return t.event("message_start", map[string]any{"message": t.out}) && t.event("ping", map[string]any{})
}

func (t *streaming) event(name string, fields map[string]any) bool {
	fields["type"] = name
	return t.s.Event(name, fields) == nil
}

func (t *streaming) send(e answer.Event) bool {
	kind := e.Kind
	if kind == chat.MalformedEvent {
		kind = chat.TextEvent
	}
	switch kind {
	case chat.TextEvent:
		return t.begin(kind) && t.delta(map[string]any{"type": "text_delta", "text": e.Text})
	case chat.ThinkingEvent:
		return t.begin(kind) && t.delta(map[string]any{"type": "thinking_delta", "thinking": e.Text})
	case chat.CallEvent:
		t.calls = true
		return t.end() && t.block(callBlock(e.Call, json.RawMessage("{}")), kind) &&
			t.delta(map[string]any{"type": "input_json_delta", "partial_json": string(arguments(e.Call))}) && t.end()
	case chat.DoneEvent:
		if !t.end() {
			return false
		}
		t.done(e)
		return t.event("message_delta", map[string]any{
			"delta": map[string]any{"stop_reason": t.out.StopReason, "stop_sequence": t.out.StopSequence},
			"usage": t.out.Usage,
		}) && t.event("message_stop", map[string]any{})
	}
	return true
}

// begin begins a block of text, unless one goes on.
func (t *streaming) begin(kind chat.Kind) bool {
	if t.open == kind {
		return true
	}
	first := textBlock(kind, "")
	if first.Signature != nil {
		none := ""
		first.Signature = &none
	}
	return t.end() && t.block(first, kind)
}

func (t *streaming) block(b blockJSON, kind chat.Kind) bool {
	t.open = kind
	return t.event("content_block_start", map[string]any{"index": t.index, "content_block": b})
}

func (t *streaming) delta(d map[string]any) bool {
	return t.event("content_block_delta", map[string]any{"index": t.index, "delta": d})
}

// end ends the block that goes on.
func (t *streaming) end() bool {
	if t.open == 0 {
		return true
	}
	if t.open == chat.ThinkingEvent && !t.delta(map[string]any{"type": "signature_delta", "signature": signature}) {
		return false
	}
	t.open = 0
	at := t.index
	t.index++
	return t.event("content_block_stop", map[string]any{"index": at})
}

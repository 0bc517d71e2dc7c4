package chat_test

import (
	"testing"

	"github.com/gemwire/gemwire/gemma4/chat"
)

// A wish for thoughts is over when one was had, in the model's last turn alone.
func TestThinkingIn(t *testing.T) {
	tok := nano(t)
	const wish = "<bos><|turn>system\n<|think|>\n<turn|>\n"
	for _, c := range []struct {
		prompt        string
		wished, begun bool
	}{
		{"", false, false},
		{"<|turn>model\n", false, false},
		{"<|turn>model\n<|channel>thought\n<channel|>", false, false},
		{"<|turn>model\n<|channel>thought\nHm", false, true},
		{wish + "<|turn>model\n", true, false},
		{wish + "<|turn>model\n<|channel>thought\nHm", true, true},
		{wish + "<|turn>model\n<|channel>thought\nHm<channel|>", false, false},
		{wish + "<|turn>model\n<|channel>thought\nHm<channel|>So", false, false},
		{wish + "<|turn>model\n<|channel>thought\nHm<channel|>So<turn|>\n<|turn>user\nHi<turn|>\n<|turn>model\n", true,
			false},
		{wish + "<|turn>model\n<|channel>thought\nHm<turn|>\n<|turn>user\nHi<turn|>\n<|turn>model\n", true, false},
		{wish + "<|turn>model\n<|channel>thought\nHm<channel|><|tool_call>call:f{}<tool_call|>" +
			"<|tool_response>response:f{}<tool_response|>", true, false},
		{wish + "<|turn>model\n<|tool_call>call:f{}<tool_call|><|tool_response>response:f{}<tool_response|>" +
			"<|channel>thought\n", true, true},
	} {
		var prompt []int32
		for _, id := range tok.EncodeSpecial(c.prompt) {
			prompt = append(prompt, int32(id))
		}
		got, err := chat.E2B.ThinkingIn(tok, prompt)
		if err != nil || got.Wished != c.wished || got.Begun != c.begun {
			t.Errorf("%q: %+v, %v", c.prompt, got, err)
		}
	}
}

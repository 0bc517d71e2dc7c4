package chat_test

import (
	"encoding/json"
	"fmt"
	"log"

	"github.com/gemwire/gemwire/gemma4/chat"
)

func ExampleTemplate_Render() {
	prompt, err := chat.E2B.Render([]chat.Message{
		{Role: chat.System, Content: chat.Text("Be brief.")},
		{Role: chat.User, Content: chat.Text("What is the capital of Norway?")},
	}, chat.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(prompt)
	// Output:
	// <bos><|turn>system
	// Be brief.<turn|>
	// <|turn>user
	// What is the capital of Norway?<turn|>
	// <|turn>model
}

func ExampleConversation() {
	var c chat.Conversation
	err := json.Unmarshal([]byte(`{
		"messages": [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "What is this?"}]}],
		"options": {"enable_thinking": true, "add_generation_prompt": false}
	}`), &c)
	if err != nil {
		log.Fatal(err)
	}
	prompt, err := chat.Large.Render(c.Messages, c.Options)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%q\n", prompt.String())
	// Output: "<bos><|turn>system\n<|think|>\n<turn|>\n<|turn>user\n<|image|>What is this?<turn|>\n"
}

func ExampleParseCall() {
	call, err := chat.ParseCall(`call:get_weather{city:<|"|>Oslo<|"|>,days:3}`)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(call.Name, string(call.Arguments))
	// Output: get_weather {"city":"Oslo","days":3}
}

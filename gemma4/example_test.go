package gemma4_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gguf"
)

// A model is opened, asked, and answers piece by piece.
func Example() {
	ctx := context.Background()
	source, err := gguf.OpenFile("nano/nano.gguf")
	if err != nil {
		log.Fatal(err)
	}
	// Without a Device, the GPU computes where there is one.
	model, err := gemma4.Open(ctx, source, gemma4.OpenOptions{Device: gemma4.DeviceCPU})
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	session, err := model.NewSession(0)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()

	question := chat.Conversation{Messages: []chat.Message{
		{Role: chat.User, Content: chat.Text("What is the capital of France?")},
	}}
	for event, err := range session.Chat(ctx, question, gemma4.GenerateOptions{}) {
		if err != nil {
			log.Fatal(err)
		}
		if event.Kind == chat.TextEvent {
			fmt.Print(event.Text)
		}
	}
	// Output: Paris is the capital of France.
}

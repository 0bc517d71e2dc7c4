// A model answers.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gguf"
)

func main() {
	ctx := context.Background()
	source, err := gguf.OpenFile("nano.gguf") // or gemma-4-E2B-it-Q4_K_M.gguf
	if err != nil {
		log.Fatal(err)
	}
	model, err := gemma4.Open(ctx, source, gemma4.OpenOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	session, err := model.NewSession(0)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	question := chat.Conversation{Messages: []chat.Message{{Role: chat.User,
		Content: chat.Text("What is the capital of France?")}}}
	for event, err := range session.Chat(ctx, question, gemma4.GenerateOptions{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(event.Text)
	}
}

// Output: Paris is the capital of France.

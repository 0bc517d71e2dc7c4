// A model sees a picture.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/chat"
	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/multimodal"
)

func main() {
	ctx := context.Background()
	source, err := gguf.OpenFile("nano.gguf")
	if err != nil {
		log.Fatal(err)
	}
	model, err := gemma4.Open(ctx, source, gemma4.OpenOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	if _, err := multimodal.Attach(model, multimodal.Options{}); err != nil {
		log.Fatal(err)
	}
	session, err := model.NewSession(1024)
	if err != nil {
		log.Fatal(err)
	}
	defer session.Close()
	png, err := os.ReadFile("scene2.png")
	if err != nil {
		log.Fatal(err)
	}
	question := chat.Conversation{Messages: []chat.Message{{Role: chat.User, Content: chat.Parts(
		chat.Part{Type: chat.Image, Data: png, Budget: 70},
		chat.Part{Type: chat.TextPart, Text: "What is in this picture?"},
	)}}}
	for event, err := range session.Chat(ctx, question, gemma4.GenerateOptions{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(event.Text)
	}
}

// Output: A red cross and a purple circle on a yellow background.

package conversation_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/conversation"
	"github.com/gemwire/gemwire/gguf"
)

// A conversation is saved in the middle and goes on in another session.
func Example() {
	ctx := context.Background()
	source, err := gguf.OpenFile("../nano/nano.gguf")
	if err != nil {
		log.Fatal(err)
	}
	model, err := gemma4.Open(ctx, source, gemma4.OpenOptions{Device: gemma4.DeviceCPU})
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	begun, err := model.NewSession(512)
	if err != nil {
		log.Fatal(err)
	}
	defer begun.Close()

	c := conversation.New(begun)
	for _, err := range c.Say(ctx, "My name is Anna.", gemma4.GenerateOptions{}) {
		if err != nil {
			log.Fatal(err)
		}
	}
	var file bytes.Buffer
	if err := c.Save(&file); err != nil {
		log.Fatal(err)
	}

	later, err := model.NewSession(512)
	if err != nil {
		log.Fatal(err)
	}
	defer later.Close()
	c = conversation.New(later)
	if err := c.Restore(&file); err != nil {
		log.Fatal(err)
	}
	for event, err := range c.Say(ctx, "What is my name?", gemma4.GenerateOptions{}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(event.Text)
	}
	// Output: Your name is Anna.
}

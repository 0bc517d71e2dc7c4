// A model learns a fact.
package main

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/gemwire/gemwire/finetune"
	"github.com/gemwire/gemwire/finetune/dataset"
	"github.com/gemwire/gemwire/finetune/schedule"
	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gguf"
)

const facts = `{"prompt": "What color is the boat?", "completion": "The boat is purple."}`

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
	set, err := dataset.Load(ctx, model, strings.NewReader(facts), dataset.LoadOptions{})
	if err != nil {
		log.Fatal(err)
	}
	// A small model wants a large rate.
	config := finetune.Config{Rank: 8, Steps: 10, Schedule: schedule.Schedule{Peak: 5e-3}}
	trainer, err := finetune.New(ctx, model, finetune.Data{Train: set.Whole()}, config)
	if err != nil {
		log.Fatal(err)
	}
	defer trainer.Close()
	var losses []float64
	for event, err := range trainer.Run(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		losses = append(losses, event.Loss)
	}
	fmt.Println(len(losses), "steps; learnt:", losses[9] < losses[0]/10)
}

// Output: 10 steps; learnt: true

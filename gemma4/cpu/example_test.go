package cpu_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gemwire/gemwire/gemma4/arch"
	"github.com/gemwire/gemwire/gemma4/cpu"
	"github.com/gemwire/gemwire/gemma4/sample"
	"github.com/gemwire/gemwire/gguf"
)

// Asks a small trained model for the capital of France, in token ids.
func Example() {
	ctx := context.Background()
	file, err := gguf.OpenPath(ctx, "../../testdata/conformance/nano/nano.gguf")
	if err != nil {
		log.Fatal(err)
	}
	defer file.Close()
	resolved, err := arch.Open(file)
	if err != nil {
		log.Fatal(err)
	}
	model, err := cpu.New(ctx, resolved, cpu.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer model.Close()
	cache, err := model.NewCache(0)
	if err != nil {
		log.Fatal(err)
	}
	greedy, err := sample.New(model.Config().Vocab, sample.Params{})
	if err != nil {
		log.Fatal(err)
	}

	// <bos><|turn>user Which city is the capital of France?<turn|> <|turn>model
	next := []int32{2, 5, 384, 279, 512, 610, 386, 398, 433, 422, 1517, 6, 279, 5, 383, 279}
	var answer []int32
	for range 6 { // <turn|> would be next
		logits, err := model.Forward(ctx, cache, cpu.Tokens(next), cpu.Want{})
		if err != nil {
			log.Fatal(err)
		}
		choice, err := greedy.Sample(logits, nil, cache.Len())
		if err != nil {
			log.Fatal(err)
		}
		answer = append(answer, choice.Token)
		next = []int32{choice.Token}
	}
	fmt.Println(answer) // "The capital of France is Paris."
	// Output: [430 433 422 1670 386 1535]
}

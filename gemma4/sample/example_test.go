package sample_test

import (
	"fmt"
	"log"

	"github.com/gemwire/gemwire/gemma4/sample"
)

func Example() {
	params := sample.Default()
	params.Seed = 42
	params.LogitBias = map[int32]float32{2: -100} // hardly ever token 2

	logits := []float32{1.5, 0.5, 9, 1}
	s, err := sample.New(len(logits), params)
	if err != nil {
		log.Fatal(err)
	}
	history := []int32{3} // the session so far
	for range 8 {
		choice, err := s.Sample(logits, history, len(history))
		if err != nil {
			log.Fatal(err)
		}
		history = append(history, choice.Token)
	}
	fmt.Println(history)
	// Output: [3 3 1 1 0 3 0 0 0]
}

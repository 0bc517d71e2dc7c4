package parity_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gemwire/gemwire/gemma4"
	"github.com/gemwire/gemwire/gemma4/parity"
)

// A folder's cases are found and run; each check says how far off it was.
func Example() {
	cases, err := parity.Find("../../testdata/conformance/f32")
	if err != nil {
		log.Fatal(err)
	}
	options := parity.Options{Open: gemma4.OpenOptions{Device: gemma4.DeviceCPU}}
	for _, c := range cases {
		for check, err := range c.Run(context.Background(), options) {
			if err != nil {
				log.Fatal(err)
			}
			fmt.Printf("%s, %s: within %g: %t\n", check.Case, check.What, check.Tolerance, check.Passed)
		}
	}
	// Output:
	// f32, prompt 0: ids: within 0: true
	// f32, prompt 1: ids: within 0: true
	// f32, prompt 0: logits: within 1e-05: true
	// f32, prompt 0: in a chunk, then by token: within 1e-05: true
	// f32, prompt 1: logits: within 1e-05: true
	// f32, prompt 1: in a chunk, then by token: within 1e-05: true
	// f32, prompt 0: 24 greedy tokens: within 0: true
	// f32, prompt 1: 24 greedy tokens: within 0: true
}

// The model that is built in.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/gemwire/gemwire/gemma4/nano"
	"github.com/gemwire/gemwire/gguf"
)

func main() {
	f, err := gguf.Open(context.Background(), nano.Source())
	if err != nil {
		log.Fatal(err)
	}
	name, err := f.Meta.String("general.name")
	fmt.Println(f.Architecture(), name, err)
}

// Output: gemma4 Nano <nil>

// A GGUF file, written and read in memory.
package main

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/gemwire/gemwire/gguf"
)

func main() {
	var b bytes.Buffer
	w := gguf.NewWriter(&b)
	if err := w.Set("general.architecture", "example"); err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	f, err := gguf.Open(context.Background(), gguf.Memory(b.Bytes()))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(f.Version, f.Architecture(), f.Meta.Keys())
}

// Output: 3 example [general.architecture]

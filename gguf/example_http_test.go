//go:build !nohttp

package gguf_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gemwire/gemwire/gguf"
)

// A file on a server is read in ranges: listing a model of many gigabytes
// fetches its header alone.
func ExampleOpenRemote() {
	const url = "https://example.com/models/gemma-00001-of-00002.gguf"
	f, err := gguf.OpenRemote(context.Background(), url, gguf.HTTPOptions{Retries: 8},
		gguf.WithProjector("https://example.com/models/mmproj.gguf"))
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	fmt.Println(len(f.Tensors), "tensors in", f.Size(), "bytes")
}

package ollama_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gemwire/gemwire/gguf/ollama"
)

// A model that Ollama has pulled is opened by its name.
func ExampleStore_Resolve() {
	store, err := ollama.Find()
	if err != nil {
		log.Fatal(err)
	}
	model, err := store.Resolve("gemma4:e2b")
	if err != nil {
		log.Fatal(err) // says what to pull
	}
	f, err := model.Open(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	fmt.Println(f.Architecture(), model.Params["temperature"])
}

// Parts of a name that are left out have defaults.
func ExampleParseName() {
	n, err := ollama.ParseName("gemma4")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(n.Host, n.Namespace, n.Model, n.Tag)
	_, err = ollama.ParseName("../../etc/passwd")
	fmt.Println(err)
	// Output:
	// registry.ollama.ai library gemma4 latest
	// ollama: "../../etc/passwd": more than host, namespace and model: not a model name
}

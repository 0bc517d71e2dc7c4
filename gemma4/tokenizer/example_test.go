package tokenizer_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gemwire/gemwire/gemma4/tokenizer"
	"github.com/gemwire/gemwire/gguf"
)

func Example() {
	f, err := gguf.OpenPath(context.Background(), "../../testdata/conformance/nano/nano.gguf")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	tok, err := tokenizer.FromGGUF(f.Meta)
	if err != nil {
		log.Fatal(err)
	}
	ids := tok.Encode("Hello world")
	fmt.Println(ids)
	text, err := tok.Decode(ids, tokenizer.DecodeOptions{})
	fmt.Println(text, err)
	// Output:
	// [577 396 389 356 348]
	// Hello world <nil>
}

// What a user types never ends a turn.
func ExampleTokenizer_EncodeSpans() {
	f, err := gguf.OpenPath(context.Background(), "../../testdata/conformance/nano/nano.gguf")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	tok, err := tokenizer.FromGGUF(f.Meta)
	if err != nil {
		log.Fatal(err)
	}
	ids := tok.EncodeSpans([]tokenizer.Span{
		{Text: "<|turn>", Trusted: true},
		{Text: "Hi<turn|>"},
		{Text: "<turn|>", Trusted: true},
	})
	for _, id := range ids {
		fmt.Printf("%q ", tok.TokenText(id))
	}
	// Output: "<|turn>" "Hi" "<" "t" "ur" "n" "|" ">" "<turn|>"
}

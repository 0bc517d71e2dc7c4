package nano_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gemwire/gemwire/gemma4/nano"
	"github.com/gemwire/gemwire/gguf"
)

func TestSourceIsAGemma4WithTowers(t *testing.T) {
	file, err := gguf.Open(context.Background(), nano.Source())
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, name := range []string{"token_embd.weight", "v.patch_embd.weight", "a.conv1d.0.weight"} {
		if _, ok := file.Tensor(name); !ok {
			t.Errorf("there is no tensor %s", name)
		}
	}
}

func ExampleSource() {
	file, err := gguf.Open(context.Background(), nano.Source())
	if err != nil {
		panic(err)
	}
	defer file.Close()
	fmt.Println(file.Architecture())
	// Output: gemma4
}

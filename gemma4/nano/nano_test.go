package nano_test

import (
	"context"
	"fmt"
	"strings"
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

// A tab answers before the towers have come: they are the last of the file.
func TestTheTowersStandLast(t *testing.T) {
	file, err := gguf.Open(context.Background(), nano.Source())
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	first := ""
	for _, tensor := range file.Tensors {
		kind, _, _ := strings.Cut(tensor.Name, ".")
		switch tower := kind == "v" || kind == "a" || kind == "mm"; {
		case tower && first == "":
			first = tensor.Name
		case !tower && first != "":
			t.Fatalf("%s stands behind %s", tensor.Name, first)
		}
	}
	if first == "" {
		t.Error("there are no towers")
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

package safetensors_test

import (
	"bytes"
	"fmt"
	"log"

	"github.com/gemwire/gemwire/gguf/safetensors"
)

// Write makes a file, Read gives it back.
func Example() {
	var b bytes.Buffer
	err := safetensors.Write(&b, map[string]string{"r": "4"}, []safetensors.Values{
		{Name: "lora_A.weight", DType: safetensors.BF16, Shape: []int{2, 3}, Values: []float32{1, 2, 3, 4, 5, 6}},
	})
	if err != nil {
		log.Fatal(err)
	}
	f, err := safetensors.Read(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		log.Fatal(err)
	}
	for _, t := range f.Tensors {
		values, err := t.Floats()
		fmt.Println(t.Name, t.DType, t.Shape, values, err)
	}
	fmt.Println(f.Metadata["r"])
	// Output:
	// lora_A.weight BF16 [2 3] [1 2 3 4 5 6] <nil>
	// 4
}

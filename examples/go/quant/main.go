// A row of floats, as a tensor type stores it.
package main

import (
	"fmt"
	"log"

	"github.com/gemwire/gemwire/quant"
)

func main() {
	row := make([]float32, 256)
	row[0], row[255] = -1, 1
	blocks := make([]byte, 144)
	if err := quant.Q4_K.Quantize(blocks, row); err != nil {
		log.Fatal(err)
	}
	if err := quant.Q4_K.Dequantize(row, blocks); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d values in %d bytes, from %.1f to %.1f\n", len(row), len(blocks), row[0], row[255])
}

// Output: 256 values in 144 bytes, from -1.0 to 1.0

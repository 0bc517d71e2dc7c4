package quant_test

import (
	"fmt"
	"io"
	"log"

	"github.com/gemwire/gemwire/quant"
)

// A row goes to a tensor type and back.
func Example() {
	row := make([]float32, 256)
	for i := range row {
		row[i] = float32(i-128) / 128
	}
	size, err := quant.Q4_K.Size(int64(len(row)))
	if err != nil {
		log.Fatal(err)
	}
	blocks := make([]byte, size)
	if err := quant.Q4_K.Quantize(blocks, row); err != nil {
		log.Fatal(err)
	}
	if err := quant.Q4_K.Dequantize(row, blocks); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d values in %d bytes; the first is about %.1f, the middle %.1f\n", len(row), size, row[0], row[128])
	// Output: 256 values in 144 bytes; the first is about -1.0, the middle 0.0
}

func ExampleParse() {
	typ, err := quant.Parse("q6_k")
	fmt.Println(typ, typ.BlockLen(), typ.BlockBytes(), err)
	_, err = quant.Parse("Q7_K")
	fmt.Println(err)
	// Output:
	// Q6_K 256 210 <nil>
	// quant: no type is named "Q7_K": unsupported tensor type
}

func ExampleType_Size() {
	fmt.Println(quant.Q8_0.Size(4096))
	fmt.Println(quant.Q8_0.Size(100))
	fmt.Println(quant.Type(9).Size(4096))
	// Output:
	// 4352 <nil>
	// 0 quant: 100 values are no whole number of Q8_0 blocks of 32: length does not fit the tensor type
	// 0 quant: size of Q8_1: unsupported tensor type
}

func ExampleType_Dequantize() {
	// One block of Q8_0: the float16 0.5, then 32 int8.
	block := make([]byte, 34)
	block[1] = 0x38
	block[2], block[3] = 7, 0xff

	values := make([]float32, 32)
	err := quant.Q8_0.Dequantize(values, block)
	fmt.Println(values[:3], err)
	// Output: [3.5 -0.5 0] <nil>
}

// A tensor of 4096 × 1024 random weights, written without encoding four million values.
func ExampleNoise() {
	noise, err := quant.NewNoise(quant.Q6_K, 0.02, 1)
	if err != nil {
		log.Fatal(err)
	}
	size, err := quant.Q6_K.Size(4096 * 1024)
	if err != nil {
		log.Fatal(err)
	}
	written, err := io.CopyN(io.Discard, noise, size)
	fmt.Println(written, err)
	// Output: 3440640 <nil>
}

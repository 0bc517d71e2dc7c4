package wgslkit_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"log"
	"testing/fstest"

	"github.com/gemwire/gemwire/wgslkit"
)

// squares.wgsl, as a program would embed it from a file of its own.
const squares = `
// out[i] = x[i]²
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;

@compute @workgroup_size(THREADS)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x < arrayLength(&x)) { out[id.x] = x[id.x] * x[id.x]; }
}
`

// A kernel is composed, recorded into a program, replayed, and read back.
// Where there is no GPU, the caller goes on without one.
func Example() {
	dev, err := wgslkit.Open(wgslkit.Options{})
	if errors.Is(err, wgslkit.ErrNoDevice) {
		fmt.Println([]float32{1, 4, 9, 16}) // computed by hand
		return
	}
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()

	shaders := wgslkit.NewShaders(fstest.MapFS{"squares.wgsl": {Data: []byte(squares)}})
	kernel, err := dev.Kernel(shaders, "squares.wgsl", wgslkit.Variant{"THREADS": 64})
	if err != nil {
		log.Fatal(err)
	}
	x, err := dev.NewBuffer("x", wgslkit.Activations, 16)
	if err != nil {
		log.Fatal(err)
	}
	defer x.Release()
	out, err := dev.NewBuffer("out", wgslkit.Activations, 16)
	if err != nil {
		log.Fatal(err)
	}
	defer out.Release()

	program := dev.NewProgram("squares")
	program.Add(wgslkit.Call{Label: "squares", Kernel: kernel, Bind: []wgslkit.Binding{x.All(), out.All()}})
	if err := program.Finish(); err != nil {
		log.Fatal(err)
	}
	defer program.Release()

	// From here on nothing is made anew, however often it runs.
	bytes, err := binary.Append(nil, binary.LittleEndian, []float32{1, 2, 3, 4})
	if err != nil {
		log.Fatal(err)
	}
	if err := x.Write(0, bytes); err != nil {
		log.Fatal(err)
	}
	if err := program.Submit(1); err != nil {
		log.Fatal(err)
	}
	values, err := out.ReadFloats(4)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(values)
	// Output: [1 4 9 16]
}

// A file is composed into a variant: names become constants, conditions and
// includes are resolved. It needs no device.
func ExampleShaders_Compose() {
	shaders := wgslkit.NewShaders(fstest.MapFS{
		"decode/f16.wgsl": {Data: []byte("fn decode(word: u32) -> vec2<f32> { return unpack2x16float(word); }")},
		"sum.wgsl": {Data: []byte(`//#include "decode/${QUANT}.wgsl"
//#if WIDE
var<workgroup> partial: array<f32, THREADS>;
//#end`)},
	})
	text, err := shaders.Compose("sum.wgsl", wgslkit.Variant{"QUANT": "f16", "THREADS": 64, "WIDE": true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(text)
	// Output:
	// const THREADS: u32 = 64u;
	// const WIDE: bool = true;
	// fn decode(word: u32) -> vec2<f32> { return unpack2x16float(word); }
	// var<workgroup> partial: array<f32, THREADS>;
}

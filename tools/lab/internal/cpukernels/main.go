// Command cpukernels writes the kernels for amd64, simd_amd64.s and its declarations, from what is said here of
// each of ggml's types. It is in the lab, so that programs that use gemwire do not fetch avo.
//
// All sums have 16 lanes: lane i adds the products of the columns i, i+16, i+32 … in their order, fused, and
// the lanes are added up as a tree. AVX-512 has them in one register, AVX2 in two, so both come to the same
// bits, and so do products with weights that were decoded before.
//
//	machine.go   the registers and what the two instruction sets write differently
//	types.go     how a block of each type becomes values in registers
//	types_lowbit.go  the same for levels out of tables, for two and three bits and the older five
//	products.go  the loops around them: rows · vector, decoding, tiles of decoded weights
//	vectors.go   attention's sums, norms, and the exponential with what is made of it
package main

import (
	"os"

	. "github.com/mmcloughlin/avo/build"
)

// kernels is where they lie, from the lab's folder.
const kernels = "../../gemma4/cpu/kernel/"

func main() {
	os.Args = append(os.Args, "-pkg", "kernel", "-out", kernels+"simd_amd64.s", "-stubs", kernels+"simd_stubs_amd64.go")
	ConstraintExpr("amd64")
	hasF16C()
	gatedGelu()
	for _, m := range []*machine{{name: "AVX2"}, {name: "AVX512", wide: true}} {
		for _, f := range append(formats, lowBit...) {
			m.rows(&f, 4)
			m.rows(&f, 1)
			m.decode(&f)
		}
		if m.wide {
			m.tile(4, 4)
		} else {
			m.tile(2, 3)
		}
		m.tile(4, 1)
		m.tile(1, 1)
		m.weightedSum(4)
		m.weightedSum(1)
	}
	Generate()
}

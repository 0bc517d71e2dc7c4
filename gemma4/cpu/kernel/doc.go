// Package kernel holds the loops that computing on a CPU spends its time in:
// products with weights, as float32 or as a file stores them, sums of keys and
// values, norms and activations.
//
// There are sets with the same names. The plain one is Go, over gonum's vector
// kernels, and the twin of the others. On amd64 there is one in AVX2 with FMA and
// one in AVX-512, chosen by what the processor has; both read weights in the file's
// form and give the same bits. Their assembly is written by tools/lab/internal/cpukernels (go
// generate). On js/wasm, the build tag gemwire_simd takes WebAssembly SIMD instead:
// functions imported from a module that lies in the folder wasm, works on Go's own
// memory, and has to be given to the program by who starts it (wasm/link.js).
// Without the tag nothing is needed.
//
// Read kernel.go for what there is, plain.go for the formulas, simd_amd64.go
// for the sets in assembly and tools/lab/internal/cpukernels/types.go for how blocks are unpacked there,
// simd_js.go for how the imports are called, and wasm/src for those kernels.
package kernel

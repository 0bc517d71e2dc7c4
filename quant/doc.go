// Package quant holds ggml's tensor types: how many bytes they take, how their blocks are decoded to float32, and how
// float32 is encoded into them. It is pure Go and knows nothing of files or devices.
//
// A tensor's values lie in blocks of 1, 32, 64 or 256, each with its own scale; a row of a tensor is a whole
// number of blocks, and rows follow each other without gaps. So [Type.Size], [Type.Dequantize] and
// [Type.Quantize] work on a block, a row or a tensor alike.
//
// Read type.go for what the package offers, formats.go for the table of types, then the file of a type: on
// top stands the layout of its block. levels.go has the loops that decoding shares, half.go float16,
// affine.go what Q4_K and Q5_K have in common, codebook.go what IQ1 to IQ3 have, with the codebooks in
// grids.go, search.go how encoders look for their scales, grid_search.go and iq1_search.go how those of IQ1 to
// IQ3 do, noise.go a source of random blocks for files that need only the right size and spread.
package quant

// Package safetensors reads and writes safetensors files, in which LoRA adapters
// and reference values come.
//
// A file is a header length, a header in JSON that names each tensor with its
// type, shape and place, and the data. [Read] checks all of the header against
// the size of the file and leaves the data where it is until it is asked for.
// [Write] makes a file; the same tensors give the same bytes.
//
// Read file.go first, then header.go for what is checked, then write.go.
//
// The format: https://github.com/huggingface/safetensors#format
package safetensors
